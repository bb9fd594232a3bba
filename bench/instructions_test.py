#!/usr/bin/env python3
"""Whether ./dev instructions would fail on growth, and only then."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import instructions  # noqa: E402


class Problems(unittest.TestCase):
    def found(self, before, now):
        return sorted(instructions.problems(before, now))

    def test_growth_above_three_percent_says_where_and_how_much(self):
        self.assertEqual(self.found({"a": 100.0, "b": 100.0}, {"a": 103.1, "b": 100.0}),
                         ["a: 103.1 instructions, 3.1 more than the 100.0 in the table (+3.1%)"])

    def test_less_growth_and_fewer_instructions_are_fine(self):
        self.assertEqual(self.found({"a": 100.0, "b": 100.0}, {"a": 103.0, "b": 50.0}), [])

    def test_the_table_and_the_program_have_the_same_paths(self):
        self.assertEqual(self.found({"a": 1.0}, {"b": 1.0}),
                         ["a: in the table, but there is no such path", "b: not in the table"])


class Least(unittest.TestCase):
    def least(self, counts, expected):
        left = list(counts)
        return instructions.least(lambda: left.pop(0), expected), len(counts) - len(left)

    def test_what_is_expected_is_counted_once(self):
        self.assertEqual(self.least([7, 0, 0], 7), (7, 1))

    def test_what_is_not_is_counted_again_and_the_least_counts(self):
        self.assertEqual(self.least([9, 7, 0], 7), (7, 2))
        self.assertEqual(self.least([9, 8, 9], 7), (8, 3))
        self.assertEqual(self.least([9, 8, 9], None), (8, 3))


class Table(unittest.TestCase):
    def test_what_is_written_is_read(self):
        counts = {"memory: Store::admit + release": 1234.5, "shm: a": 7.0}
        self.assertEqual(instructions.read_table(instructions.write_table("GCC: 12", counts)), ("GCC: 12", counts))

    def test_the_table_of_the_tree_can_be_read(self):
        compiler, counts = instructions.read_table((pathlib.Path(__file__).parent / "instructions.txt").read_text())
        self.assertTrue(compiler)
        self.assertTrue(all(number > 0 for number in counts.values()) and counts)


if __name__ == "__main__":
    unittest.main()
