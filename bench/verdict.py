"""How certain a measured ratio is, and what follows from it.

Rows are measured in several passes over all of them, so that a disturbance of some seconds meets one sample of many
rows and not all samples of one.
"""

import dataclasses
import itertools
import math
import statistics
import sys
import time


@dataclasses.dataclass(frozen=True)
class Estimate:
    ratio: float
    spread: float  # The true median is within ratio ± spread, with the confidence of interval().

    def __str__(self):
        return f"{self.ratio:.2f} ± {self.spread:.2f}"


def interval(samples):
    """(low, high): contains the true median with a confidence of 95 % (order statistics; nothing is assumed about the
    distribution). Below six samples it reaches from the least to the greatest, with less confidence: 94 % of five, 75 %
    of three."""
    ordered = sorted(samples)
    count = len(ordered)
    tails = itertools.accumulate(math.comb(count, k) / 2**count for k in range((count + 1) // 2))
    cut = sum(2 * tail <= 0.05 for tail in tails)
    return ordered[max(cut - 1, 0)], ordered[-max(cut, 1)]


def estimate(samples):
    low, high = interval(samples)
    ratio = statistics.median(samples)
    return Estimate(ratio, max(high - ratio, ratio - low))


def is_clear(found, bound):
    """Whether the estimate is on one side of the bound: its spread is not larger than its distance."""
    return found.spread <= abs(found.ratio - bound)


def verdict(found, aim):
    """held, missed or undecided; None without an aim. The ratio is to be at most the aim."""
    if aim is None:
        return None
    if not is_clear(found, aim):
        return "undecided"
    return "held" if found.ratio <= aim else "missed"


# A change below this is small enough to call two times the same.
SMALL = 0.05


def change(found):
    """Of the ratio of a new time to an old one: worse, better, same, or unclear if a change above SMALL could hide in the
    spread."""
    if found.ratio != 1 and is_clear(found, 1):
        return "worse" if found.ratio > 1 else "better"
    return "same" if found.spread <= SMALL else "unclear"


def repeat(rows, sample, wanted, at_least, at_most, seconds):
    """Pass by pass, calls sample(row, number) for rows of which wanted(row, number): `at_least` passes, then for at most
    so many seconds more, until no row is wanted or there were `at_most`."""
    end = math.inf
    for number in range(at_most):
        left = [row for row in rows if wanted(row, number)]
        if number == at_least:
            end = time.monotonic() + seconds
        for index, row in enumerate(left):
            if time.monotonic() >= end:
                return
            progress(f"pass {number + 1} of {at_least if number < at_least else f'at most {at_most}'}, "
                     f"row {index + 1} of {len(left)}: {row}")
            sample(row, number)


def progress(text):
    """One line that changes, at a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:110]}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def end_progress():
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
