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


def launches(text):
    """[(kernel's name, seconds, {counter: per cent or None})], in their order; throws Bad."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("==")]
    table = list(csv.reader(lines))
    start = next((at for at, cells in enumerate(table) if "Kernel Name" in cells), None)
    if start is None:
        raise Bad(refusal(text) or "ncu has printed no rows: no kernel was profiled")
    head, found = table[start], []
    for metric in ("ID", DURATION, *METRICS.values()):
        if metric not in head:
            raise Bad("ncu has printed no column '%s'" % metric)
    place, unit = head.index(DURATION), None
    for cells in table[start + 1:]:
        if len(cells) != len(head):
            continue  # words of the program
        own = dict(zip(head, cells))
        if not own["ID"].strip():  # the row of units
            unit = UNITS.get(cells[place].strip())
            if unit is None:
                raise Bad("ncu gives times in '%s', which is no unit that is known" % cells[place])
        elif unit is None:
            raise Bad("ncu has printed no row of units")
        else:
            took = _number(own[DURATION])
            found.append((own["Kernel Name"], took and took * unit,
                          {name: _number(own[metric]) for name, metric in METRICS.items()}))
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
