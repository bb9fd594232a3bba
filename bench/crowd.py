#!/usr/bin/env python3
"""Side by side: the same crowd at airlock and at what people would use instead.

    crowd.py FOLDER_OF_PROGRAMS [--quick | --tiny] [--only REGEX] --out FOLDER

A crowd is so many clients at so few slots, each holding for so long, again and again; what is held is a sleep. The
contestants take turns, round after round. Each writes when its clients asked, came in and went, and everything that is
said of them is computed from that, here, in the same way for all (bench/crowd/crowd.hpp has the protocol).

FOLDER/crowds.json has all that was found; FOLDER/summary.json, a list as ratios.py writes it, gets a row for each
crowd: nanoseconds per admission against the least possible, which is the hold divided by the slots.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from contestants import all_contestants, Redis  # noqa: E402
from machine import describe_machine  # noqa: E402
from verdict import estimate  # noqa: E402
from visits import Failure, run_orphan, run_visits  # noqa: E402

# What is asked of everybody. `ms` is how long a round takes.
SCENARIOS = {
    "crowd": {"clients": 200, "slots": 10, "hold_us": 5000, "ms": 1000, "rounds": 3},
    "lock": {"clients": 20, "slots": 1, "hold_us": 5000, "ms": 1000, "rounds": 3},
    "alone": {"clients": 1, "slots": 10, "hold_us": 0, "ms": 300, "rounds": 3},
}
QUICK = {"crowd": {"ms": 500, "rounds": 1}, "lock": {"ms": 300, "rounds": 1}, "alone": {"ms": 100, "rounds": 1}}
TINY = {"crowd": {"clients": 20, "slots": 4, "ms": 1000, "rounds": 1}}

# How many clients share ten slots, for those whose cost may depend on it.
CLIENTS = [10, 50, 100, 200, 400]

# What is in the middle of the rounds; the rest of a round is kept of the first.
MEDIANS = ["admissions", "per_second", "p50_us", "p90_us", "p99_us", "max_us", "jain", "cpu_us", "server_cpu_us",
           "calls", "in_use", "handover_p50_us", "handover_p99_us", "passed_on"]


def progress(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def middle(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def summed_up(scenario, plan, contestant, rounds):
    result = {
        "scenario": scenario,
        "contestant": contestant.name,
        "ours": contestant.ours,
        "family": contestant.family,
        "version": contestant.version,
        "note": contestant.note_for(plan),
        **{key: plan[key] for key in ["clients", "slots", "hold_us", "ms"]},
        "rounds": len(rounds),
        **{key: middle([one[key] for one in rounds]) for key in MEDIANS},
        "most_inside": max(one["most_inside"] for one in rounds),
        "waits_us": rounds[0]["waits_us"],
        "per_client": rounds[0]["per_client"],
    }
    result["all_per_second"] = [one["per_second"] for one in rounds]
    return result


def run_scenario(scenario, plan, contestants, redis):
    rounds = {}
    failed = {}
    for number in range(plan["rounds"]):
        for contestant in contestants:
            if contestant.name in failed or number >= contestant.most_rounds:
                continue
            progress(f"{scenario} {number + 1}/{plan['rounds']}: {contestant.name}")
            try:
                one = run_visits(contestant, contestant.fitted(plan), redis)
                rounds.setdefault(contestant.name, []).append(one)
            except Failure as failure:
                progress(f"  {failure}")
                failed[contestant.name] = f"{scenario}: {failure}"
    return [
        summed_up(scenario, contestant.fitted(plan), contestant, rounds[contestant.name])
        for contestant in contestants
        if contestant.name in rounds and contestant.name not in failed
    ], failed


def run_sizes(contestants, redis):
    """The crowd again, with few clients and with many, for those that carry any number."""
    results = []
    for clients in CLIENTS:
        plan = {**SCENARIOS["crowd"], "clients": clients, "rounds": 1}
        some, _ = run_scenario(f"crowd of {clients}", plan, [one for one in contestants if one.scales], redis)
        results += [{**one, "scenario": "clients"} for one in some]
    return results


def run_orphans(contestants, redis):
    results = []
    for contestant in contestants:
        if not contestant.can_be_killed:
            continue
        progress(f"killed inside: {contestant.name}")
        results.append({"contestant": contestant.name, "ours": contestant.ours, "back_ms": run_orphan(contestant, redis)})
    return results


def row(crowd):
    """As ratios.py writes them."""
    ideal = max(crowd["hold_us"] * 1000 / min(crowd["slots"], crowd["clients"]), 1)
    found = estimate([1e9 / rate / ideal for rate in crowd["all_per_second"]])
    return {
        "name": f"crowd: {crowd['contestant']}, {crowd['clients']} clients at {crowd['slots']} slots, "
                f"{crowd['hold_us'] / 1000:g} ms inside, against no time lost between two",
        "value": round(1e9 / crowd["per_second"], 1),
        "reference": ideal,
        "ratio": round(found.ratio, 4),
        "spread": round(found.spread, 4),
        "aim": None,
        "verdict": None,
        "passes": crowd["rounds"],
    }


def add_to_summary(path, crowds):
    rows = json.loads(path.read_text()) if path.exists() else []
    rows = [one for one in rows if not one["name"].startswith("crowd: ")]
    rows += [row(crowd) for crowd in crowds if crowd["hold_us"] and crowd["scenario"] != "clients"]
    part = path.with_suffix(".part")
    part.write_text("[\n  " + ",\n  ".join(json.dumps(one) for one in rows) + "\n]\n")
    part.rename(path)


def plans(arguments):
    changes = QUICK if arguments.quick else TINY if arguments.tiny else SCENARIOS
    return {name: {**SCENARIOS[name], **changes[name]} for name in changes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="shorter, and without what starts slowly")
    parser.add_argument("--tiny", action="store_true", help="one small crowd: whether it works at all")
    parser.add_argument("--only", default="", help="contestants in whose name this expression is found")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    begin = time.monotonic()
    everybody = all_contestants(arguments.programs.resolve())
    chosen = [one for one in everybody if re.search(arguments.only, one.name) and not (arguments.quick and one.is_slow)]
    contestants = [one for one in chosen if one.version is not None]
    if not contestants:
        sys.exit(f"error: no contestant with \"{arguments.only}\" in its name is installed")
    found = {"machine": describe_machine(), "crowds": [], "orphans": [], "failed": [],
             "contestants": [one.describe() for one in everybody]}
    with tempfile.TemporaryDirectory(prefix="airlock-crowd-") as folder, Redis(folder) as redis:
        contestants = [one for one in contestants if redis.is_there or not one.needs_redis]
        for scenario, plan in plans(arguments).items():
            crowds, failed = run_scenario(scenario, plan, contestants, redis)
            found["crowds"] += crowds
            found["failed"] += [[name, why] for name, why in failed.items()]
        if not arguments.quick and not arguments.tiny:
            found["crowds"] += run_sizes(contestants, redis)
            found["orphans"] = run_orphans(contestants, redis)
    found["seconds"] = round(time.monotonic() - begin)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "crowds.json").write_text(json.dumps(found) + "\n")
    add_to_summary(arguments.out / "summary.json", found["crowds"])


if __name__ == "__main__":
    main()
