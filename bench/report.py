#!/usr/bin/env python3
"""Makes a page with plots of what `./dev bench` measured, or tables for the docs.

    report.py FOLDER                  writes FOLDER/report.html; it needs no network
    report.py FOLDER --markdown       prints the tables
    report.py FOLDER --update FILE    puts the tables into FILE, between its marks

FOLDER has summary.json (ratios and growth), crowds.json and sizes.json; server.json has the rows of the server, which stand
between marks of their own. What is not there is left as it is.
"""

import argparse
import html
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import plots  # noqa: E402
import tables  # noqa: E402

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
SERVER = "<!-- server: begin -->", "<!-- server: end -->"

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; } h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
.wide { overflow-x: auto; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child, td:last-child { text-align: left; white-space: normal; }
tr.ours { background: var(--soft); font-weight: 600; }
.missed { color: #d55e00; font-weight: 600; } .undecided { font-style: italic; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(460px, 1fr)); gap: 1rem 2rem; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: currentColor; }
svg .grid { stroke: var(--line); stroke-width: 1; }
.legend { font-size: 13px; } .legend span { margin-right: 1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
"""


def markdown_table(table, with_title):
    lines = [f"**{table.title}**", ""] if with_title else []
    if table.text:
        lines += [table.text, ""]
    lines.append("| " + " | ".join(table.header) + " |")
    lines.append("|---" * len(table.header) + "|")
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def markdown(rows, found, sizes):
    parts = []
    for heading, some in tables.all_tables(rows, found, sizes):
        parts.append(f"## {heading}")
        parts += [markdown_table(table, len(some) > 1 or table.title != heading) for table in some]
    return "\n\n".join(parts)


def server_markdown(server):
    return "\n\n".join(markdown_table(table, table.title != "The server") for table in tables.server_tables(server) if table.rows)


def html_table(table, with_title):
    def cell(value):
        words = html.escape(str(value))
        return f'<td class="{words}">{words}</td>' if words in ("missed", "undecided") else f"<td>{words}</td>"

    header = "".join(f"<th>{html.escape(name)}</th>" for name in table.header)
    body = "".join(
        f'<tr{" class=ours" if str(row[0]).startswith("airlock") else ""}>{"".join(map(cell, row))}</tr>'
        for row in table.rows)
    title = f"<h3>{html.escape(table.title)}</h3>" if with_title else ""
    words = f"<p>{html.escape(table.text)}</p>" if table.text else ""
    return f'{title}{words}<div class="wide"><table><tr>{header}</tr>{body}</table></div>'


def figure(title, content):
    return f"<div><h3>{html.escape(title)}</h3>{content}</div>"


class Figures:
    """The plots, by the heading they belong to."""

    def __init__(self, rows, found):
        self.rows, self.found = rows, found
        names = list(dict.fromkeys(crowd["contestant"] for crowd in found["crowds"]))
        self.colour = plots.colours(names, lambda name: name.startswith("airlock"))

    def of(self, heading):
        for start, make in [("A crowd", self.crowd), ("One slot", self.lock), ("One client", self.alone),
                            ("Growth", self.growth)]:
            if heading.startswith(start):
                return list(make())
        return []

    def crowd(self):
        crowds = tables.of(self.found, "crowd")
        for family, title in tables.FAMILIES.items():
            some = {crowd["contestant"]: crowd for crowd in crowds if crowd["family"] == family}
            if not some:
                continue
            waits = {name: [(max(us, 1) / 1000, part) for part, us in crowd["waits_us"]] for name, crowd in some.items()}
            yield figure(f"{title}: part of the admissions that waited so long at most", plots.lines(
                title, waits, self.colour, "wait, ms", "part", y_log=False))
        yield figure("Fairness (Jain): 1 if all clients came in equally often", plots.ranges(
            "fairness", [(crowd["contestant"], crowd["jain"], None) for crowd in crowds], self.colour, "Jain's index",
            log=False))
        yield figure("Admissions per client, from the one with the least", plots.lines(
            "admissions per client",
            {crowd["contestant"]: [((i + 1) / len(crowd["per_client"]), count)
                                   for i, count in enumerate(crowd["per_client"])] for crowd in crowds},
            self.colour, "part of the clients", "admissions", x_log=False, y_log=False))
        yield from self.clients()

    def clients(self):
        series = {}
        for crowd in tables.of(self.found, "clients"):
            cost = crowd["cpu_us"] + (crowd["server_cpu_us"] or 0)
            series.setdefault(crowd["contestant"], []).append((crowd["clients"], cost))
        if series:
            yield figure("CPU per admission by the number of processes, the server's included", plots.lines(
                "cpu by processes", series, self.colour, "processes", "µs"))

    def lock(self):
        crowds = tables.of(self.found, "lock")
        yield figure("Hand-over, p50 (dot) to p99", plots.ranges(
            "hand-over", [(crowd["contestant"], crowd["handover_p50_us"], crowd["handover_p99_us"]) for crowd in crowds
                          if crowd["handover_p50_us"]],
            self.colour, "µs"))

    def alone(self):
        crowds = tables.of(self.found, "alone")
        yield figure("From asking to being in, p50 (dot) to p99", plots.ranges(
            "alone", [(crowd["contestant"], crowd["p50_us"], crowd["p99_us"]) for crowd in crowds], self.colour, "µs"))

    def growth(self):
        for thing, stores in tables.growth_series(self.rows).items():
            colour = plots.colours(stores, lambda name: True)
            yield figure(f"Time of an operation by the number of {thing}s", plots.lines(
                thing, stores, colour, f"{thing}s", "ns"))


def page(rows, found, sizes, server):
    figures = Figures(rows, found)
    parts = []
    for heading, some in tables.all_tables(rows, found, sizes, server):
        parts.append(f"<h2>{html.escape(heading)}</h2>")
        drawn = figures.of(heading)
        if drawn:
            parts.append(f'<div class="plots">{"".join(drawn)}</div>')
        parts += [html_table(table, len(some) > 1 or table.title != heading) for table in some]
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>airlock, measured</title><style>{STYLE}</style>'
            f"<h1>airlock, measured</h1>{''.join(parts)}</html>\n")


def update(path, text, marks=(BEGIN, END)):
    before, begin, rest = path.read_text().partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        sys.exit(f"error: {path} does not have the marks {marks[0]} and {marks[1]}")
    path.write_text(f"{before}{marks[0]}\n\n{text}\n\n{marks[1]}{after}")


def read(path, otherwise):
    return json.loads(path.read_text()) if path.exists() else otherwise


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--update", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = read(arguments.folder / "summary.json", [])
    sizes = read(arguments.folder / "sizes.json", [])
    found = read(arguments.folder / "crowds.json", None)
    server = read(arguments.folder / "server.json", None)
    if not found and not server:
        sys.exit(f"error: {arguments.folder} has neither crowds.json nor server.json")
    if arguments.markdown:
        print("\n\n".join(([markdown(rows, found, sizes)] if found else []) + ([server_markdown(server)] if server else [])))
    elif arguments.update:
        if found:
            update(arguments.update, markdown(rows, found, sizes))
        if server:
            update(arguments.update, server_markdown(server), SERVER)
    elif found:
        (arguments.folder / "report.html").write_text(page(rows, found, sizes, server))


if __name__ == "__main__":
    main()
