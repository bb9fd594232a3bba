#!/usr/bin/env python3
"""Whether verdicts follow from samples as bench/verdict.py says."""

import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import verdict  # noqa: E402
from verdict import Estimate  # noqa: E402


class Interval(unittest.TestCase):
    def test_few_samples_count_all(self):
        self.assertEqual(verdict.interval([1.5]), (1.5, 1.5))
        self.assertEqual(verdict.interval([3, 1, 2]), (1, 3))
        self.assertEqual(verdict.interval(range(8)), (0, 7))

    def test_many_samples_leave_out_as_many_at_each_end_as_95_percent_allow(self):
        # The ranks of the usual tables: 2 to 8 of 9, 6 to 15 of 20, 40 to 61 of 100.
        self.assertEqual(verdict.interval(range(1, 10)), (2, 8))
        self.assertEqual(verdict.interval(range(1, 21)), (6, 15))
        self.assertEqual(verdict.interval(range(1, 101)), (40, 61))

    def test_it_contains_the_median_of_a_skewed_distribution_as_often_as_promised(self):
        generator = random.Random(1)
        inside = 0
        for _ in range(2000):
            low, high = verdict.interval([generator.expovariate(1) for _ in range(15)])
            inside += low <= 0.6931 <= high
        self.assertGreater(inside / 2000, 0.95)

    def test_an_outlier_does_not_widen_it(self):
        self.assertEqual(verdict.estimate([1.0] * 8 + [9.0]), Estimate(1.0, 0.0))


class Verdict(unittest.TestCase):
    def test_an_aim_beyond_the_spread_is_held_or_missed(self):
        self.assertEqual(verdict.verdict(Estimate(1.5, 0.1), 2), "held")
        self.assertEqual(verdict.verdict(Estimate(2.5, 0.1), 2), "missed")

    def test_an_aim_within_the_spread_is_undecided_on_both_sides(self):
        self.assertEqual(verdict.verdict(Estimate(1.95, 0.1), 2), "undecided")
        self.assertEqual(verdict.verdict(Estimate(2.05, 0.1), 2), "undecided")

    def test_a_spread_as_large_as_the_distance_decides(self):
        self.assertEqual(verdict.verdict(Estimate(1.5, 0.5), 2), "held")
        self.assertEqual(verdict.verdict(Estimate(2, 0), 2), "held")

    def test_without_an_aim_there_is_none(self):
        self.assertIsNone(verdict.verdict(Estimate(1, 0.1), None))


class Change(unittest.TestCase):
    def test_only_beyond_the_spread(self):
        self.assertEqual(verdict.change(Estimate(1.10, 0.05)), "worse")
        self.assertEqual(verdict.change(Estimate(0.90, 0.05)), "better")
        self.assertEqual(verdict.change(Estimate(1.04, 0.05)), "same")
        self.assertEqual(verdict.change(Estimate(0.96, 0.05)), "same")
        self.assertEqual(verdict.change(Estimate(1, 0)), "same")

    def test_a_large_spread_is_unclear_unless_the_change_is_larger(self):
        self.assertEqual(verdict.change(Estimate(1.04, 0.06)), "unclear")
        self.assertEqual(verdict.change(Estimate(2, 0.5)), "worse")


class Repeat(unittest.TestCase):
    def setUp(self):
        self.calls = []
        self.progress, verdict.progress = verdict.progress, lambda text: None

    def tearDown(self):
        verdict.progress = self.progress

    def repeat(self, unsure, **bounds):
        verdict.repeat("ab", lambda row, number: self.calls.append(f"{row}{number}"),
                       lambda row, number: number < bounds["at_least"] or row in unsure, **bounds)

    def test_every_row_in_every_pass(self):
        self.repeat("", at_least=2, at_most=4, seconds=60)
        self.assertEqual(self.calls, ["a0", "b0", "a1", "b1"])

    def test_an_unsure_row_up_to_the_bound(self):
        self.repeat("b", at_least=1, at_most=3, seconds=60)
        self.assertEqual(self.calls, ["a0", "b0", "b1", "b2"])

    def test_the_time_bounds_only_what_is_beyond_the_least(self):
        self.repeat("ab", at_least=2, at_most=9, seconds=0)
        self.assertEqual(self.calls, ["a0", "b0", "a1", "b1"])


if __name__ == "__main__":
    unittest.main()
