"""Whether docs/reliability.md has every row of the fault matrix, and every test that it names exists.

usage: reliability_test.py SOURCE
"""

import pathlib
import re
import sys
import unittest

ROWS = {"A": 23, "B": 9, "C": 15, "D": 13, "E": 10, "F": 15, "G": 18, "H": 6, "I": 9}
REASONS = ("does not apply", "not run", "documented in", "no local detection", "as A1", "not compared", "`./dev ")


def tests_of(root):
    found = set()
    for folder in ("tests", "bindings"):
        for path in (root / folder).rglob("*_test.cpp"):
            found |= {f"{suite}.{name}" for suite, name in re.findall(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", path.read_text())}
        for path in (root / folder).rglob("*.py"):
            found |= set(re.findall(r"def (test_\w+)", path.read_text()))
    return found


def complaints(text, tests, exists):
    wrong = []
    rows = {match[1]: match[2] for match in re.finditer(r"^\| ([A-I]\d+) \|.*\|([^|]*)\|$", text, re.M)}
    for letter, count in ROWS.items():
        wrong += [f"row {letter}{n} is missing" for n in range(1, count + 1) if f"{letter}{n}" not in rows]
    for row, shown in rows.items():
        named = re.findall(r"`(\w+\.\w+|test_\w+)`", shown)
        files = re.findall(r"`(fuzz/\w+\.cpp)`", shown)
        wrong += [f"row {row}: there is no test {name}" for name in named if name not in tests]
        wrong += [f"row {row}: there is no {name}" for name in files if not exists(name)]
        if not named and not files and not any(reason in shown for reason in REASONS):
            wrong.append(f"row {row}: names neither a test nor a reason")
    return wrong


class Reliability(unittest.TestCase):
    def test_every_row_has_its_test(self):
        root = pathlib.Path(SOURCE)
        text = (root / "docs/reliability.md").read_text()
        self.assertEqual(complaints(text, tests_of(root), lambda name: (root / name).exists()), [])

    def test_it_would_notice(self):
        text = "\n".join(f"| {letter}{n} | a | b | does not apply |" for letter, count in ROWS.items() for n in range(1, count + 1))
        self.assertEqual(complaints(text, set(), lambda name: False), [])
        for row, message in [("| A1 | a | b | `Some.Test` |", "no test Some.Test"), ("| A1 | a | b | surely |", "neither"),
                             ("| A1 | a | b | `fuzz/x.cpp` |", "no fuzz/x.cpp"), ("", "A1 is missing")]:
            broken = text.replace("| A1 | a | b | does not apply |", row)
            self.assertTrue(any(message in said for said in complaints(broken, set(), lambda name: False)), row)


if __name__ == "__main__":
    SOURCE = sys.argv.pop(1)
    unittest.main()
