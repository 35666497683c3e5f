# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers as words."""


def number(value, digits=3):
    """1234.5 as 1230, 0.01234 as 0.0123: without exponents where it is a plain size."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        text = "%.*g" % (digits, value)
        return "%d" % float(text) if "e" in text else text
    return "%.*g" % (digits, value)


def percent(share):
    return "%.0f %%" % (100 * share) if share >= 0.0995 else "%.1f %%" % (100 * share)


def seconds(value):
    """With a unit."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return number(value / size) + " " + unit
    return number(value / 1e-9) + " ns"
