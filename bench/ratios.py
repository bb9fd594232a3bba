#!/usr/bin/env python3
"""Measures every row of airlock_bench several times and says which aims are held, missed or undecided.

    ratios.py PROGRAM [--quick] [--filter TEXT] [--without TEXT] --out FILE

Undecided: the spread of the ratio is larger than its distance to the aim. Such rows are measured again, within bounds.
FILE is a list, for programs:
    {"name": text, "value": ns, "reference": ns, "ratio": number, "spread": number, "aim": number, "verdict": text,
     "passes": number}
value and reference are nanoseconds per operation; the ratio is to be at most the aim. aim and verdict are null in a row
that is only for the reader. The name also says what the reference is. A missed aim is a result, not a failure.
"""

import argparse
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import program  # noqa: E402
import verdict  # noqa: E402

FULL = {"at_least": 5, "at_most": 25, "seconds": 120}
QUICK = {"at_least": 3, "at_most": 9, "seconds": 30}
# Rows without an aim: nothing is to be decided.
FEW = 3


class Ratios:
    def __init__(self, path, quick):
        self.path = path
        self.quick = quick
        self.plan = QUICK if quick else FULL
        self.samples = {}

    def sample(self, title, _number):
        self.samples.setdefault(title, []).append(program.measure(self.path, title, self.quick))

    def is_wanted(self, title, number):
        if number < FEW:
            return True
        word = self.result(title)["verdict"]
        return word == "undecided" or (word is not None and number < self.plan["at_least"])

    def result(self, title):
        samples = self.samples[title]
        found = verdict.estimate([one["ratio"] for one in samples])
        aim = samples[0]["aim"]
        return {
            "name": title,
            "value": statistics.median(one["value"] for one in samples),
            "reference": statistics.median(one["reference"] for one in samples),
            "ratio": round(found.ratio, 5),
            "spread": round(found.spread, 5),
            "aim": aim,
            "verdict": verdict.verdict(found, aim),
            "passes": len(samples),
        }


def table(rows):
    """For people; at the end what is not held."""
    width = max(len(row["name"].partition(", against ")[2]) for row in rows) + 12
    lines = [f"{'':{width}}      ns/op   reference           ratio      aim"]
    for row in rows:
        name, _, against = row["name"].partition(", against ")
        aim = "-" if row["aim"] is None else f"<= {row['aim']:.3g}"
        found = verdict.Estimate(row["ratio"], row["spread"])
        lines += [name, f"{'    against ' + against:{width}} {row['value']:10.1f}  {row['reference']:10.1f}  "
                        f"{str(found):>14} {aim:>8}  {row['verdict'] or ''}".rstrip()]
    words = [row["verdict"] for row in rows]
    lines += ["", ", ".join(f"{words.count(word)} {word}" for word in ["held", "missed", "undecided"])]
    for word in ["missed", "undecided"]:
        lines += [f"{word}: {row['name']}: {row['ratio']:.3f} ± {row['spread']:.3f} in {row['passes']} passes, "
                  f"the aim is at most {row['aim']:.4g}" for row in rows if row["verdict"] == word]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="shorter passes and fewer")
    parser.add_argument("--filter", default="", help="only rows whose name contains this")
    parser.add_argument("--without", default="", help="no rows whose name contains this")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    try:
        titles = program.titles(arguments.program, arguments.filter, arguments.without)
        ratios = Ratios(arguments.program, arguments.quick)
        verdict.repeat(titles, ratios.sample, ratios.is_wanted, **ratios.plan)
    except program.Failure as failure:
        sys.exit(f"error: {failure}")
    finally:
        verdict.end_progress()
    rows = [ratios.result(title) for title in titles]
    arguments.out.write_text("[\n  " + ",\n  ".join(json.dumps(row) for row in rows) + "\n]\n")
    print(table(rows))


if __name__ == "__main__":
    main()
