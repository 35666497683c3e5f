# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far two measurements of the same may lie apart."""
import math

FLOOR = 0.02
ENOUGH = 20  # rows of a kernel, so that their 95th percentile says something

DEFINITION = (
    "A row's noise band is the largest of three shares of its median time: 2 %; half the distance "
    "between the quartiles of its samples; and the difference between the medians of two rounds "
    "that 95 % of the rows of its kernel stay below (of all rows, where the kernel has fewer than "
    "20). Rounds are separate runs of the program, minutes apart. Two results of the same machine "
    "are expected to differ by less than the band in 95 % of the rows.")


def median(numbers):
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def quantile(numbers, share):
    """Between the two nearest numbers, linearly."""
    ordered = sorted(numbers)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def own_spread(seconds):
    """Half the distance between the quartiles, as a share of the median."""
    if len(seconds) < 3:
        return 0.0
    return (quantile(seconds, 0.75) - quantile(seconds, 0.25)) / 2 / median(seconds)


def between_rounds(rounds):
    """The largest factor between the medians of rounds, less 1; None for a single round."""
    medians = [median(seconds) for seconds in rounds if seconds]
    if len(medians) < 2:
        return None
    return max(medians) / min(medians) - 1


def set_bands(rows):
    """Sets row["noise"] of every row that has times."""
    timed = [row for row in rows if row["rounds"]]
    differences = {}
    for row in timed:
        difference = between_rounds(row["rounds"])
        if difference is not None:
            differences.setdefault(row["kernel"], []).append(difference)
    everything = [one for ones in differences.values() for one in ones]
    for row in timed:
        own = differences.get(row["kernel"], [])
        pool = own if len(own) >= ENOUGH else everything
        pooled = quantile(pool, 0.95) if pool else 0.0
        spread = own_spread([one for seconds in row["rounds"] for one in seconds])
        row["noise"] = round(max(FLOOR, spread, pooled), 4)


def geometric_mean(numbers):
    """0 where one of them is; None of none."""
    numbers = list(numbers)
    if not numbers or min(numbers) <= 0:
        return 0.0 if numbers else None
    return math.exp(sum(map(math.log, numbers)) / len(numbers))
