# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wijeratne, Kannan & Prasanna, Sparse MTTKRP acceleration for tensor decomposition on GPU (2024),
section 5."""
import re

from bench import kernels, names, ncu, papers, tables
from bench.exhibit import (Exhibit, Series, each, mean_of_each, of_peer, platforms, speedups,
                           tensors_table, times_table)
from bench.text import number

NOTE = ("Table 1 and figures 1 to 4 explain notation, hypergraphs, partitions and blocks of threads; "
        "they measure nothing. Values are floats, R = 32; times are of all modes together, remaps "
        "included.")
BLOCKS = Series("flycoo-blocks", "mttkrp", papers.FLYCOO_BLOCKS, "there are no rows of it")
UNMOVED = Series("flycoo-blocks", "unmoved", papers.FLYCOO_BLOCKS,
                 "there are no rows of its products alone")
FLYCOO = Series("flycoo", "mttkrp", "flycoo")
OWN = [BLOCKS, FLYCOO]
# what stands for the baselines here, and the baselines themselves, if they are measured beside it
BASELINES = [
    Series("alto-atomic, as BLCO", "mttkrp", "alto-atomic"),
    Series("csf, as MM-CSF", "mttkrp", "csf"),
    Series("atomic, as ParTI-GPU", "mttkrp", "atomic"),
    of_peer("BLCO", "mttkrp"), of_peer("MM-CSF", "mttkrp"), of_peer("PASTA", "mttkrp"),
    Series("ParTI-GPU", "mttkrp", "ParTI", "no program of it runs MTTKRP on GPUs; PASTA, by some of its "
           "authors, has the same product")]
OTHERS = [Series("sorted", "mttkrp", "sorted"), Series("fibers", "mttkrp", "fibers"),
          Series("automatic", "mttkrp", "automatic")]
BUILT = [of_peer("BLCO", "build"), of_peer("ALTO", "build")]
FORMATS = [Series(one, "build", one) for one in papers.BUILT] + BUILT
PROFILER = "no rows: perf/profile counts them on NVIDIA's GPUs, with Nsight Compute as the paper does"


def remaps(data, draw, machine):
    """The share of N remaps in a sweep over all modes: of flycoo those, of flycoo-blocks what its
    products take longer than those that leave the nonzeros where they are."""
    found = {}
    remapped = Series("", "remap", FLYCOO.strategy).cases(data, machine)
    for family, modes in FLYCOO.cases(data, machine).items():
        if "all" in modes and "all" in remapped.get(family, {}):
            found.setdefault(FLYCOO.label, {})[family] = 100 * (
                remapped[family]["all"]["median"] / modes["all"]["median"])
    unmoved = UNMOVED.cases(data, machine)
    for family, modes in BLOCKS.cases(data, machine).items():
        alone = unmoved.get(family, {})
        if "all" in modes and len(alone) == len(modes["all"]["dims"]):
            found.setdefault(BLOCKS.label, {})[family] = 100 * (1 - sum(
                row["median"] for row in alone.values()) / modes["all"]["median"])
    return draw.bars(data, "remaps", "The share of remaps in MTTKRP of all modes (%s, R = %s)%s" % (
        data.scalar, data.rank, data.of(machine)),
        "Time of N remaps over that of a sweep over all modes, remaps included: shorter is less "
        "overhead.", found, "per cent")


def sweep(pattern, data, machine):
    """{strategy: {tensor: {number of the pattern: Gflop/s}}} of strategies such as flycoo:82:32."""
    points = {}
    for row in kernels.of_largest([row for row in machine.timed() if row["kernel"] == "mttkrp"]):
        match = re.fullmatch(pattern, row["strategy"] or "")
        if match and row["mode"] == "all" and row.get("flops") and (
                (row["scalar"], row["rank"]) == (data.scalar, data.rank)):
            own = points.setdefault(match.group(1), {})
            own.setdefault(data.tensor_names(names.family(row["tensor"])), {})[
                int(match.group(2))] = row["flops"] / row["median"] / 1e9
    return points


def swept(pattern, name, what, axis_label):
    """make: a picture a strategy, with a line a tensor."""
    return lambda data, draw: [draw.lines(
        data, name, "Speed of %s by %s (%s, R = %s)%s" % (strategy, what, data.scalar, data.rank,
                                                          data.of(machine)),
        "Flops a second of MTTKRP over all modes, remaps included: higher is faster.", points,
        (axis_label, "Gflop/s")) for machine in data.machines
        for strategy, points in sweep(pattern, data, machine).items()]


def counted(counter, title, pattern=r"[^:]*"):
    """make: a counter of perf/profile, of strategies that match."""
    def make(data, _):
        rows = [[machine.name, row["tensor"], row["strategy"] or "", number(row["counters"][counter])]
                for machine in data.machines for row in machine.timed()
                if row["kernel"] == ncu.PREFIX + "mttkrp" and counter in row.get("counters", {})
                and (row["scalar"], row["rank"]) == (data.scalar, data.rank)
                and re.fullmatch(pattern, row["strategy"] or "")]
        note = "Means over the kernels of a product of all modes, weighted by their times."
        return [tables.Table("%s (%s, R = %s)" % (title, data.scalar, data.rank),
                             ["machine", "tensor", "strategy", "per cent"], rows, note)]
    return make


def by_parallel(data, draw):
    """Figure 8: speed, and the paper's counter where perf/profile has been run for several P."""
    return (swept(PARALLEL, "parallel", "nonzeros at once", "P")(data, draw)
            + counted("sm_throughput", "Throughput of multiprocessors", PARALLEL)(data, draw))


def total_times(data, _, machine):
    return times_table(data, machine, OWN + BASELINES + OTHERS)


def speedup_table(data, _):
    rows = []
    for machine in data.machines:
        for base in BASELINES:
            means = mean_of_each(speedups(data, machine, OWN, base))
            if means:
                rows.append([machine.name, base.label] + [number(means.get(one.label)) or "–"
                                                          for one in OWN])
    return [tables.Table("How many times as fast, geometric means over the tensors",
                         ["machine", "over"] + [one.label for one in OWN], rows)]


def build_times(data, _, machine):
    return times_table(data, machine, FORMATS, "s")


PARALLEL = r"(flycoo[\w-]*):0:(\d+)"
PART = "no rows: part '%s' of sporades-bench --paper wij24 measures them"
EXHIBITS = [
    Exhibit("table 2", "An RTX 3090.", "The machines of these results.", platforms, ""),
    Exhibit("table 3", "Six tensors.", "Look-alikes; dims and nonzeros of some are rounded, as the "
            "paper has them.", tensors_table(papers.PAPERS["wij24"]), ""),
    Exhibit("figure 5", "The shares of products and of remaps in the time: remaps take 5 to 35 %.",
            "The share of remaps; of flycoo they are kernels of their own.", each(remaps),
            PART % "mttkrp", [UNMOVED]),
    Exhibit("figure 6", "How busy multiprocessors are, beside BLCO and MM-CSF.",
            "By perf/profile, of strategies of this library that work as they do.",
            counted("sm_throughput", "Throughput of multiprocessors"), PROFILER),
    Exhibit("figure 7", "Throughput of L1 caches, beside BLCO and MM-CSF.",
            "By perf/profile, of strategies of this library that work as they do.",
            counted("l1_throughput", "Throughput of L1 caches"), PROFILER),
    Exhibit("figure 8", "How busy multiprocessors are for P = 1 to 64 nonzeros at once, R = 32.",
            "Speed, for the same P and as many partitions as the library takes by default; and how busy, "
            "where perf/profile has been run with such strategies.",
            by_parallel, PART % "parallel",
            [Series("flycoo-blocks", "mttkrp", papers.FLYCOO_BLOCKS + ":0:32", BLOCKS.why)]),
    Exhibit("κ (section 5.1.5)",
            "κ = 82 partitions, one a multiprocessor; there is no figure of others.",
            "Speed by the number of partitions, with P = 32.",
            swept(r"(flycoo[\w-]*):([1-9]\d*):32", "partitions", "partitions", "κ"), PART % "partitions",
            [Series("flycoo-blocks", "mttkrp", papers.FLYCOO_BLOCKS + ":82:32", BLOCKS.why)]),
    Exhibit("figure 9", "Time of all modes beside BLCO, MM-CSF and ParTI-GPU.",
            "Beside strategies of this library that work as they do.", each(total_times),
            PART % "mttkrp", [BLOCKS] + BASELINES[3:]),
    Exhibit("table 4", "How many times as fast as the baselines: 1.5, 2.0 and 21.7, geometric means.",
            "Over strategies of this library that work as they do.", speedup_table, PART % "mttkrp",
            [BLOCKS] + BASELINES),
    Exhibit("figure 10", "Time of building the formats on a host.", "Time of building the formats on "
            "the same machine as the products: flycoo and alto a copy, others a copy a mode.",
            each(build_times), PART % "build",
            [BUILT[0], Series("MM-CSF", "build", "MM-CSF", "it prints the time of one of its steps"),
             Series("ParTI-GPU", "build", "ParTI", "its programs build nothing but sort")]),
]
