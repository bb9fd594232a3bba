"""What a run found, as tables: for the report and for docs/performance.md."""

import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import verdict  # noqa: E402

FAMILIES = {
    "thread": "Threads of one process",
    "process": "Processes of one host",
    "redis": "Over Redis, by a Unix socket",
    "command": "Commands, a new process for every admission",
}
GROWTH = re.compile(r"growth: (\w+): (\d+) (holder|waiter|gate)s, against")


@dataclasses.dataclass
class Table:
    title: str
    header: list
    rows: list
    text: str = ""


def number(value, digits=3):
    """With so many digits that mean something, thousands apart."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}".replace(",", " ")
    return f"{float(f'{value:.{digits}g}'):g}"


def time_us(value):
    """Microseconds, in the unit that reads best."""
    if value is None:
        return "-"
    if value >= 1e6:
        return f"{number(value / 1e6)} s"
    if value >= 1e3:
        return f"{number(value / 1e3)} ms"
    if value >= 1:
        return f"{number(value)} µs"
    return f"{number(value * 1e3)} ns"


def per_admission(crowd):
    cpu = time_us(crowd["cpu_us"])
    return f"{cpu} + {time_us(crowd['server_cpu_us'])}" if crowd["server_cpu_us"] is not None else cpu


def noted(crowd, usual):
    notes = [crowd["note"]] if crowd["note"] else []
    if crowd["clients"] != usual:
        notes.append(f"only {crowd['clients']} clients")
    if crowd["most_inside"] > crowd["slots"]:
        notes.append(f"up to {crowd['most_inside']} inside at once")
    return "; ".join(notes)


def of(found, scenario):
    return [crowd for crowd in found["crowds"] if crowd["scenario"] == scenario]


def crowd_tables(found):
    crowds = of(found, "crowd")
    usual = max((crowd["clients"] for crowd in crowds), default=0)
    for family, title in FAMILIES.items():
        some = [crowd for crowd in crowds if crowd["family"] == family]
        if some:
            yield Table(title, ["", "admitted/s", "slots in use", "wait p50", "p99", "max", "Jain", "store calls",
                                "CPU + server's", "note"],
                        [[crowd["contestant"], number(crowd["per_second"]), f"{crowd['in_use']:.0%}",
                          time_us(crowd["p50_us"]), time_us(crowd["p99_us"]), time_us(crowd["max_us"]),
                          f"{crowd['jain']:.3f}", number(crowd["calls"]), per_admission(crowd),
                          noted(crowd, usual)] for crowd in some])


def lock_table(found):
    crowds = of(found, "lock")
    usual = max((crowd["clients"] for crowd in crowds), default=0)
    return Table("Hand-over: from one holder's end to the next one's beginning",
                 ["", "p50", "p99", "turns passed on", "wait p99", "Jain", "note"],
                 [[crowd["contestant"], time_us(crowd["handover_p50_us"]), time_us(crowd["handover_p99_us"]),
                   f"{crowd['passed_on']:.0%}", time_us(crowd["p99_us"]), f"{crowd['jain']:.3f}", noted(crowd, usual)] for crowd in crowds])


def alone_table(found):
    return Table("Nobody else there: from asking to being in",
                 ["", "p50", "p99", "CPU + server's, in and out"],
                 [[crowd["contestant"], time_us(crowd["p50_us"]), time_us(crowd["p99_us"]), per_admission(crowd)]
                  for crowd in of(found, "alone")])


def orphan_table(found):
    return Table("A holder is killed with -9: when the one who waits for its slot is in",
                 ["", "after"],
                 [[one["contestant"], "not within 3 s" if one["back_ms"] is None else f"{number(one['back_ms'])} ms"]
                  for one in found["orphans"]])


def clients_table(found):
    crowds = of(found, "clients")
    counts = sorted({crowd["clients"] for crowd in crowds})
    names = list(dict.fromkeys(crowd["contestant"] for crowd in crowds))
    cells = {(crowd["contestant"], crowd["clients"]): per_admission(crowd) for crowd in crowds}
    return Table("CPU (and the server's) per admission, by how many clients share ten slots",
                 ["clients", *map(number, counts)],
                 [[name, *(cells.get((name, count), "-") for count in counts)] for name in names])


def growth_series(rows):
    """{thing: {store: [(count, ns)]}}, each beginning with one."""
    series = {}
    for row in rows:
        found = GROWTH.match(row["name"])
        if not found:
            continue
        store, count, thing = found.group(1), int(found.group(2)), found.group(3)
        points = series.setdefault(thing, {}).setdefault(store, [])
        if not points:
            points.append((1, row["reference"]))
        points.append((count, row["value"]))
    return series


def growth_tables(rows):
    does = {"holder": "one more comes in and goes out", "waiter": "hand-over to the first in line, and joining its end",
            "gate": "in and out of a random one"}
    for thing, stores in growth_series(rows).items():
        counts = sorted({count for points in stores.values() for count, _ in points})
        yield Table(f"By the number of {thing}s: {does[thing]}", [f"{thing}s", *map(number, counts)],
                    [[store, *(time_us(dict(points)[count] / 1000) if count in dict(points) else "-"
                               for count in counts)] for store, points in stores.items()])


def sizes_table(sizes):
    stores = list(dict.fromkeys(size["store"] for size in sizes))
    things = list(dict.fromkeys(size["thing"] for size in sizes))
    cells = {(size["store"], size["thing"]): size["bytes"] for size in sizes}
    return Table("Memory for one more, bytes", ["", *things],
                 [[store, *(number(cells[store, thing]) for thing in things)] for store in stores])


def is_plain(row):
    return not row["name"].startswith(("growth: ", "crowd: "))


def aims_table(rows):
    def cells(row):
        name, _, against = row["name"].partition(", against ")
        aim = "" if row["aim"] is None else f"<= {row['aim']:.3g}"
        return [name, against, time_us(row["value"] / 1000), time_us(row["reference"] / 1000),
                str(verdict.Estimate(row["ratio"], row["spread"])), aim, row["verdict"] or ""]

    some = [row for row in rows if is_plain(row)]
    words = [row["verdict"] for row in some]
    return Table("Ratios", ["what", "against", "it", "the other", "ratio", "aim", ""], [cells(row) for row in some],
                 f"{words.count('held')} aims are held, {words.count('missed')} missed, {words.count('undecided')} undecided: "
                 "the spread (after ±) is larger than the distance to the aim.")


def server_value(row, field):
    value = row[field]
    if value is None:
        return "-"
    return {"us": time_us, "bytes": lambda count: f"{number(count)} B", "part": lambda part: f"{number(part * 100)}% of a core"}[
        row["unit"]](value)


def server_tables(found):
    """What bench/server.py has found."""
    def cells(row):
        ratio = "" if row["ratio"] is None else str(verdict.Estimate(row["ratio"], row["spread"]))
        aim = "" if row["aim"] is None else f"<= {row['aim']:.3g}"
        span = f"{server_value(row, 'low')} to {server_value(row, 'high')}" if row["rounds"] > 1 else ""
        return [row["name"], server_value(row, "value"), span, row["against"], server_value(row, "reference"), ratio, aim,
                row["verdict"] or ""]

    machine = found["machine"]
    text = (f"Measured {machine['date']} on {machine['cpu']}, {machine['cores']} cores, load {machine['load_before']} at the "
            f"beginning, airlock {machine['commit']}. Times of requests are CPU of the server.")
    return [Table("The server", ["what", "it", "range", "against", "the other", "ratio", "aim", ""],
                  [cells(row) for row in found["rows"]], text),
            Table("The server: did not come to its end", ["", ""], found["failed"])]


def versions_table(found):
    return Table("Who took part", ["", "version"],
                 [[one["name"], one["version"] or f"not installed (Debian: {one['package']})"]
                  for one in found["contestants"] if not one["ours"]])


def machine_table(found):
    machine = found["machine"]
    return Table("The machine", ["", ""], [
        ["date", machine["date"]],
        ["processor", f"{machine['cpu']}, {machine['cores']} cores"],
        ["memory", f"{machine['memory_gb']} GB"],
        ["system", f"{machine['system']}, Linux {machine['kernel']}"],
        ["compiler", machine["compiler"]],
        ["Redis", machine["redis"] or "not installed"],
        ["airlock", f"commit {machine['commit']}"],
        ["load when the crowds began", machine["load_before"]],
    ])


def failed_table(found):
    return Table("Did not come to its end", ["", ""], found["failed"])


# What can be lost, in a scenario: (field, what it is called, how it is written, whether more is better).
CONTESTS = [
    ("crowd", "per_second", "admissions per second", number, True),
    ("crowd", "p99_us", "p99 of the waits", time_us, False),
    ("crowd", "cpu_us", "CPU per admission", time_us, False),
    ("lock", "handover_p50_us", "hand-over, p50", time_us, False),
    ("alone", "p50_us", "alone, p50", time_us, False),
]
# Leaves out what is about the same; two runs on a busy machine differ by more.
NOISE = 1.05


def losses(found):
    """Where somebody is better than the best of airlock in the same family."""
    for scenario, field, what, write, more in CONTESTS:
        for family in FAMILIES:
            some = [crowd for crowd in of(found, scenario) if crowd["family"] == family and crowd[field]]
            ours = [crowd for crowd in some if crowd["ours"]]
            if not ours:
                continue
            best = (max if more else min)(ours, key=lambda crowd: crowd[field])
            for crowd in some:
                factor = crowd[field] / best[field] if more else best[field] / crowd[field]
                if not crowd["ours"] and factor > NOISE:
                    yield [what, best["contestant"], write(best[field]), crowd["contestant"], write(crowd[field]),
                           f"{factor:.2f}"]


def losses_table(found):
    return Table("Where airlock loses", ["", "airlock", "", "better", "", "by a factor of"], list(losses(found)),
                 "Where somebody beats the best airlock of its table by more than 5 %, in five columns: admissions per second, p99 of "
                 "the waits and CPU of the clients in the crowd, p50 of the hand-over, p50 alone. The other columns, the server's CPU "
                 "and who is killed among them, are in their own tables only; so are aims that were missed.")


def all_tables(rows, found, sizes, server=None):
    """[(heading, [Table])], without those that are empty."""
    parts = [
        ("Where airlock loses", [losses_table(found)]),
        ("A crowd: 200 clients, 10 slots, 5 ms inside", list(crowd_tables(found)) + [clients_table(found)]),
        ("One slot, 20 clients, 5 ms inside", [lock_table(found)]),
        ("One client", [alone_table(found)]),
        ("A holder dies", [orphan_table(found)]),
        ("Growth", list(growth_tables(rows)) + [sizes_table(sizes)]),
        ("Ratios", [aims_table(rows)]),
        ("The server", server_tables(server) if server else []),
        ("Did not come to its end", [failed_table(found)]),
        ("Measured on", [machine_table(found), versions_table(found)]),
    ]
    parts = [(heading, [table for table in tables if table.rows]) for heading, tables in parts]
    return [(heading, tables) for heading, tables in parts if tables]
