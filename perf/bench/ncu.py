# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What NVIDIA's ncu is asked, and what it prints: a line a kernel, in CSV."""
import csv
import re

from bench.results import Bad

PREFIX = "profiled_"  # of kernels in results
# The first of the kernels of a benchmark that sporades_perf --profile has ncu look at: a functor of
# perf/support/profile.hpp, which takes part in nothing that is told.
FIRST = "ProfiledBenchmark"
DURATION = "gpu__time_duration.sum"
# "Compute (SM) Throughput", "L1/TEX Cache Throughput" and "L1/TEX Hit Rate" of ncu's own pages, in
# per cent, by the names of counters in results.
METRICS = {"sm_throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
           "l1_throughput": "l1tex__throughput.avg.pct_of_peak_sustained_active",
           "l1_hit_rate": "l1tex__t_sector_hit_rate.pct"}
# How claims.md has them.
COUNTERS = {"use of multiprocessors": "sm_throughput", "use of L1": "l1_throughput",
            "hit rate of L1": "l1_hit_rate"}
UNITS = {"s": 1.0, "second": 1.0, "ms": 1e-3, "msecond": 1e-3, "us": 1e-6, "usecond": 1e-6,
         "ns": 1e-9, "nsecond": 1e-9}


def arguments(log):
    """Of ncu, before the program's. Only what the program asks for is looked at, and clocks stay as
    they are. What ncu says goes to the file log, apart from what the program prints."""
    return ["--profile-from-start", "off", "--target-processes", "all", "--clock-control", "none",
            "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "demangled",
            "--metrics", ",".join([DURATION, *METRICS.values()]), "--log-file", log]


def refusal(text):
    """What ncu says that it cannot do, or None."""
    errors = re.findall(r"^==ERROR==\s*(.*\S)", text, re.MULTILINE)
    denied = next((one for one in errors if "ERR_NVGPUCTRPERM" in one), None)
    if denied:
        return "ncu may not read the GPU's counters: " + denied
    return "ncu: " + errors[0] if errors else None


def _number(text):
    """None of "n/a" and its like."""
    try:
        found = float(text.replace(",", ""))
    except ValueError:
        return None
    return found if 0 <= found < 1e30 else None


def _rows(text):
    """Rows of the table as {column: cell}; none where there is no table. Words of the program and of
    ncu may stand between them."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("==")]
    table = list(csv.reader(lines))
    start = next((at for at, cells in enumerate(table) if "Kernel Name" in cells), len(table))
    return [dict(zip(table[start], cells)) for cells in table[start + 1:]
            if len(cells) == len(table[start])]


def _seconds(text, unit):
    if unit.strip() not in UNITS:
        raise Bad("ncu gives times in '%s', which is no unit that is known" % unit)
    took = _number(text)
    return took and took * UNITS[unit.strip()]


def launches(text):
    """[(kernel's name, seconds, {counter: per cent or None})], in their order; throws Bad."""
    units, found = None, []
    for row in _rows(text):
        for column in ("ID", DURATION, *METRICS.values()):
            if column not in row:
                raise Bad("ncu has printed no column '%s'" % column)
        if not row["ID"].strip():
            units = row
        elif units is None:
            raise Bad("ncu has printed no row of units")
        else:
            found.append((row["Kernel Name"], _seconds(row[DURATION], units[DURATION]),
                          {name: _number(row[metric]) for name, metric in METRICS.items()}))
    if not found:
        raise Bad(refusal(text) or "ncu has printed no rows: no kernel was profiled")
    return found


def benchmarks(text):
    """[{"seconds", "kernels", counters}] of each benchmark that was profiled, in their order: means
    over its kernels, weighted by their times; counters that no kernel has are left out."""
    groups = []
    for name, took, shares in launches(text):
        if FIRST in name:
            groups.append([])
        elif not groups:
            raise Bad("ncu looked at a kernel before the first benchmark: %s" % name[:80])
        elif took:
            groups[-1].append((took, shares))
    return [_means(group) for group in groups]


def _means(group):
    found = {"seconds": sum(took for took, _ in group), "kernels": len(group)}
    for name in METRICS:
        told = [(took, shares[name]) for took, shares in group if shares[name] is not None]
        if told:
            found[name] = sum(took * share for took, share in told) / sum(took for took, _ in told)
    return found
