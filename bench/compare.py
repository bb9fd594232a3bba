#!/usr/bin/env python3
"""Measures another commit and the working tree in turns and says which rows changed.

    ./dev bench --compare COMMIT [--filter TEXT] [--without TEXT] [--passes N] [--json]

Both are built for release, COMMIT in build/compare/tree. Every pass runs each row once in both builds, one directly after
the other, and which one is first alternates: old new new old. The ratio of new to old is the median over the passes.

    worse, better   its spread is smaller than its distance to 1, and still is after twice as many passes
    same            it is not, and the spread is at most 5 %
    unclear         it is not, and the spread stayed above 5 %, after up to four times as many passes

Exit status: 0 no row is worse, 1 some are, 2 it could not be measured.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import program  # noqa: E402
import tables  # noqa: E402
import verdict  # noqa: E402

PROGRAM = "build/release/bench/airlock_bench"
LEAST_PASSES = 6  # Fewer give no interval of 95 %.
SECONDS = 300  # For passes above the number that was asked for.


class Comparison:
    """Samples of two programs. Rows that the old one does not have are not compared."""

    def __init__(self, old, new, passes, measure=program.measure):
        self.measure = measure
        self.old = old
        self.new = new
        self.passes = passes
        self.samples = {}  # title: [(old ns, new ns)]

    def sample(self, title, number):
        turns = [self.old, self.new] if number % 2 == 0 else [self.new, self.old]
        found = {turn: self.measure(turn, title, quick=True) for turn in turns}
        if all(found.values()):
            self.samples.setdefault(title, []).append(tuple(found[one]["value"] for one in [self.old, self.new]))

    def is_wanted(self, title, number):
        if number > 0 and title not in self.samples:
            return False
        if number < self.passes:
            return True
        word = self.result(title)["change"]
        return word == "unclear" or (word != "same" and number < 2 * self.passes)

    def result(self, title):
        samples = self.samples[title]
        found = verdict.estimate([new / old for old, new in samples])
        return {
            "name": title,
            "old": statistics.median(old for old, _ in samples),
            "new": statistics.median(new for _, new in samples),
            "ratio": round(found.ratio, 5),
            "spread": round(found.spread, 5),
            "change": verdict.change(found),
            "passes": len(samples),
        }

    def run(self, titles):
        verdict.repeat(titles, self.sample, self.is_wanted, at_least=self.passes, at_most=4 * self.passes,
                       seconds=SECONDS)
        return [self.result(title) for title in titles if title in self.samples]


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)


def resolve(root, commit):
    done = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    if done.returncode:
        raise program.Failure(f"no such commit: {commit}; `git log --oneline` lists those of this branch, `git fetch` gets "
                              "those of others")
    return done.stdout.strip()


def check_out(root, commit, tree):
    """A separate work tree. It is kept, so that the next comparison builds only what differs."""
    if not tree.exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        done = git(root, "worktree", "add", "--detach", "--force", tree, commit)
    elif (tree / ".git").is_file():
        done = git(tree, "checkout", "--detach", "--force", commit)
    else:
        # There git would find the repository around it and check out the commit over the caller's work.
        raise program.Failure(f"{tree} is not a work tree of git; rm -r {tree} starts afresh")
    if done.returncode:
        raise program.Failure(f"git does not check out {commit} in {tree}; rm -r {tree} starts afresh\n{done.stderr.strip()}")


def build(tree, name):
    print(f"==> build ({name})", file=sys.stderr, flush=True)
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree)}
    for words in [["--preset", "release"], ["--build", "--preset", "release", "--target", "airlock_bench"]]:
        done = subprocess.run(["cmake", *words], cwd=tree, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise program.Failure(f"{name} does not build in {tree}:\n{done.stdout[-4000:].strip()}")
    return tree / PROGRAM


def table(rows, only_new):
    def ns(value):
        return tables.time_us(value / 1000)

    width = max((len(row["name"]) for row in rows), default=0)
    lines = [f"{'':{width}}  {'old':>8}  {'new':>8}  {'new / old':>13}"]
    lines += [f"{row['name']:{width}}  {ns(row['old']):>8}  {ns(row['new']):>8}  "
              f"{str(verdict.Estimate(row['ratio'], row['spread'])):>13}  {'' if row['change'] == 'same' else row['change']}".rstrip()
              for row in rows]
    lines += [f"not compared, the old commit does not have it: {title}" for title in only_new]
    words = [row["change"] for row in rows]
    return "\n".join([*lines, "", ", ".join(f"{words.count(word)} {word}" for word in ["worse", "better", "same", "unclear"])])


def passes(text):
    if not text.isdigit() or int(text) < LEAST_PASSES:
        raise argparse.ArgumentTypeError(f"{text} is not a number of at least {LEAST_PASSES}")
    return int(text)


def parse(words):
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.split("\n", maxsplit=1)[0],
                                     epilog="Exit status: 0 no row is worse, 1 some are, 2 it could not be measured.")
    parser.add_argument("--compare", metavar="COMMIT", required=True, help="anything that git understands: main, HEAD~3, a hash")
    parser.add_argument("--filter", metavar="TEXT", default="", help="only rows whose name contains this")
    parser.add_argument("--without", metavar="TEXT", help="no rows whose name contains this; default without --filter: 'growth: '")
    parser.add_argument("--passes", type=passes, default=8, help="how often each row is measured in both; default: 8")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    arguments = parser.parse_args(words)
    if arguments.without is None:
        arguments.without = "" if arguments.filter else "growth: "
    return arguments


def main(words):
    arguments = parse(words)
    root = HERE.parent
    tree = root / "build/compare/tree"
    try:
        check_out(root, resolve(root, arguments.compare), tree)
        old, new = build(tree, arguments.compare), build(root, "the working tree")
        titles = program.titles(new, arguments.filter, arguments.without)
        rows = Comparison(old, new, arguments.passes).run(titles)
    except program.Failure as failure:
        verdict.end_progress()
        print(f"error: {failure}", file=sys.stderr)
        return 2
    verdict.end_progress()
    known = {row["name"] for row in rows}
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print(table(rows, [title for title in titles if title not in known]))
    return 1 if any(row["change"] == "worse" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
