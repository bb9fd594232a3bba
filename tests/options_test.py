#!/usr/bin/env python3
"""docs/options.md has every option of every object, with the default and in the order that the header gives it.

    options_test.py ROOT
"""

import pathlib
import re
import sys
import tempfile

# Which column of the table a struct of options is.
COLUMNS = {"AirlockOptions": "Airlock", "BulkheadOptions": "Bulkhead", "MutexOptions": "Mutex",
           "EventIsolationOptions": "EventIsolation", "LockOptions": "LockSeal",
           "SemaphoreOptions": "SemaphoreSeal", "HealthGuardOptions": "HealthGuard"}

# How people write what the compiler reads.
TEXTS = {"kForever": "forever", "Duration(0)": "0", "kSealTtl": "5 min", "false": "no", "1 << 16": "65536",
         "KeyBuilder{}": "as in the seed", "Outage::closed": "closed", "Order::fifo": "fifo", None: "none", "{}": "none"}
SPECIAL = {("AirlockOptions", "claim_window"): "1 s, visitors with an id 10 s",
           ("EventIsolationOptions", "max_wait"): "twice the ttl",
           ("AirlockOptions", "aging"): "1, and 1 per second up to 100",
           ("AirlockOptions", "max_waiting"): "no bound", ("BulkheadOptions", "max_waiting"): "no bound"}

STRUCT = re.compile(r"^struct (\w+Options) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^  [\w:<>,()&* ]+?[ >](\w+)(?: = ([^;]+))?;", re.MULTILINE)


def text_of(struct, field, default):
    if (struct, field) in SPECIAL:
        return SPECIAL[struct, field]
    seconds = re.fullmatch(r"std::chrono::seconds\((\d+)\)", default or "")
    return f"{seconds[1]} s" if seconds else TEXTS.get(default, default)


def options(root):
    """(struct, field, default as people write it) of all public headers."""
    for header in sorted((root / "include/airlock").glob("*.hpp")):
        for struct in STRUCT.finditer(header.read_text()):
            body = re.sub(r"//[^\n]*", "", struct[2])
            for field in FIELD.finditer(body):
                default = re.sub(r"\s+", " ", field[2]).strip() if field[2] else None
                yield struct[1], field[1], text_of(struct[1], field[1], default)


def table(root):
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")]
            for line in (root / "docs/options.md").read_text().splitlines() if line.startswith("|")]
    head = rows[0]
    return head, {row[0].strip("`"): dict(zip(head, row)) for row in rows[2:]}


def check(root):
    errors = []
    head, rows = table(root)
    found = {}
    for struct, field, default in options(root):
        if struct not in COLUMNS:
            errors.append(f"{struct} has no column in docs/options.md")
            continue
        column = COLUMNS[struct]
        found.setdefault(column, []).append(field)
        said = rows.get(field, {}).get(column)
        if said != default:
            errors.append(f"{column}, {field}: docs/options.md says {said!r}, the header {default!r}")
    places = {field: i for i, field in enumerate(rows)}
    for column, fields in found.items():
        known = [places[field] for field in fields if field in places]
        if known != sorted(known):
            errors.append(f"{column}: the header has its options in another order")
    for column in head[1:-1]:
        for field, row in rows.items():
            if row[column] != "-" and field not in found.get(column, []):
                errors.append(f"{column} has no option {field}")
    return errors


def prove():
    """A table that is wrong in every way is noticed."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "include/airlock").mkdir(parents=True)
        (root / "include/airlock/x.hpp").write_text(
            "struct LockOptions {\n  AnyDuration ttl = std::chrono::seconds(1);\n  std::uint32_t readers = 1;  // Of it.\n"
            "  bool fair = false;\n};\n")
        (root / "docs/options.md").write_text(
            "| option | LockSeal | meaning |\n|---|---|---|\n| `fair` | no | c |\n| `ttl` | 2 s | a |\n| `gone` | 1 | b |\n")
        assert len(check(root)) == 4, check(root)


def main():
    prove()
    errors = check(pathlib.Path(sys.argv[1]))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
