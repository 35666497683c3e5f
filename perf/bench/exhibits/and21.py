# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Anderson & Choi, performance portability of sparse tensor decomposition in Kokkos (2021), sections 5.2
and 6."""
from bench import kernels, names, papers
from bench.exhibit import (Exhibit, Series, each, of_peer, platforms, speedups, tensors_table,
                           times_table)

NOTE = ("Table 1 and figure 1 explain notation and CP; they measure nothing. Values are doubles and "
        "R = 16, of which the paper says nothing.")
ATOMIC = Series("atomic: Kokkos, Π on the fly", "phi", "atomic")
SPARTEN = of_peer("SparTen", "phi", "reduced_footprint")
STORED = of_peer("SparTen", "phi", "stored_pi")
SPARTEN.label, STORED.label = "SparTen, reduced footprint", "SparTen, Π stored"
STORED_PI = Series("Π stored", "cp_apr", "mu_stored_pi", "there are no rows of it")
ATOMICS = Series("coo-alto-atomic", "phi", "coo-alto-atomic")
PULL = Series("coo-alto-pull", "phi", "coo-alto-pull")
MTTKRP = [Series("atomic, as PASTA", "mttkrp", "atomic"),
          Series("automatic", "mttkrp", "automatic")]
PASTA = of_peer("PASTA", "mttkrp")
PASTA.why += "; its loop is here without Kokkos, as native atomic"


def roof_of(data, machine):
    """The vendor's bandwidth, or the measured triad's, and what it is."""
    peak = data.peaks[machine.name].bandwidth
    triad = kernels.triad(machine.timed(), data.scalar)
    return (peak, "the vendor's bandwidth") if peak else (triad, "the measured triad's bandwidth")


def shares_of_roof(data, machine, cases, roof):
    """{tensor or loop: per cent}"""
    found = {}
    for family, modes in cases.items():
        rows = [modes["all"]] if "all" in modes else list(modes.values())
        if all(row.get("bytes") for row in rows):
            found[family] = 100 * sum(row["bytes"] for row in rows) / roof / sum(
                row["median"] for row in rows)
    return found


def stream(data, draw):
    """Figure 3: loops of STREAM."""
    found, roofs = {}, []
    for machine in data.machines:
        roof, words = roof_of(data, machine)
        rows = [row for row in machine.timed() if row["kernel"] in kernels.STREAM
                and row["scalar"] == data.scalar and not row["native"] and row.get("bytes")]
        if rows and roof:
            found[data.machine_names(machine.name)] = {
                row["kernel"].replace("stream_", ""): 100 * row["bytes"] / row["median"] / roof
                for row in rows}
            roofs.append("%s: of %s." % (machine.name, words))
    return [draw.bars(data, "stream", "STREAM by Kokkos: share of the peak (%s)" % data.scalar,
                      "How much of the machine's bandwidth each loop reaches: the dashed line is all "
                      "of it.", found, "per cent", 100, roofs)]


def mttkrp(data, draw, machine):
    """Figure 5."""
    roof, words = roof_of(data, machine)
    found = {one.label: shares_of_roof(data, machine, one.cases(data, machine), roof)
             for one in MTTKRP if roof}
    return draw.bars(data, "mttkrp", "MTTKRP: share of the peak (%s, R = %s)%s" % (
        data.scalar, data.rank, data.of(machine)),
        "How much of %s the bytes reach that must move at least, all modes together." % words,
        {label: values for label, values in found.items() if values}, "per cent")


def over_native(kernel_names, title):
    return lambda data, draw: [draw.twins.over_native(data, kernel_names, "native", title)]


def times_of(*series):
    return each(lambda data, _, machine: times_table(data, machine, series))


def over_sparten(own):
    """make: of figures 10 and 11."""
    def draw_one(data, draw, machine):
        found = {}
        for base in (ATOMIC, SPARTEN):
            for values in speedups(data, machine, [own], base).values():
                found["over " + base.label] = values
        return draw.bars(data, own.label, "Φ by %s over atomics in Kokkos (%s, R = %s)%s" % (
            own.label, data.scalar, data.rank, data.of(machine)),
            "How many times as fast it is, all modes together: right of the dashed line it is faster.",
            found, "times as fast", 1)
    return each(draw_one)


def threads(data, draw, machine):
    """Times as fast as one thread."""
    found = {}
    for row in machine.rows.values():
        if row["rounds"] and row["mode"] == "all" and row["scalar"] == data.scalar and (
                row["rank"] == data.rank and not row["native"] and not machine.gpu
                and row["kernel"] in ("mttkrp", "phi") and row["strategy"] in ("automatic", "atomic")):
            label = "%s, %s, %s" % (kernels.title(row["kernel"]), row["strategy"],
                                    data.tensor_names(names.family(row["tensor"])))
            found.setdefault(label, {})[row["threads"]] = row["median"]
    found = {label: {count: own[1] / time for count, time in own.items()}
             for label, own in found.items() if 1 in own}
    return draw.lines(data, "threads", "MTTKRP and Φ by the number of threads (%s, R = %s)%s" % (
        data.scalar, data.rank, data.of(machine)),
        "How many times as fast as with one thread, all modes together: higher is faster.", found,
        ("threads", "times as fast"))


PART = "no rows: part '%s' of sporades-bench --paper and21 measures them"
PHI = "Milliseconds of all modes."
EXHIBITS = [
    Exhibit("figure 2", "What the time of SparTen's CP-APR MU goes into, on five tensors.",
            "The same of an outer iteration of this library's, with Π stored as there and on the fly.",
            lambda data, draw: draw.shares.draw(data), PART % "cp_apr", [STORED_PI]),
    Exhibit("table 2", "Five processors and four GPUs.", "The machines of these results.", platforms,
            ""),
    Exhibit("table 3", "Four tensors of FROSTT.", "Look-alikes.",
            tensors_table(papers.PAPERS["and21"]), ""),
    Exhibit("figure 3", "The share of the peak bandwidth that STREAM by Kokkos reaches, on arrays of up "
            "to 500 M elements.", "The same, on arrays of 256 MB.", stream, PART % "stream"),
    Exhibit("figure 4", "How many times as fast STREAM by Kokkos is as hand-tuned code: 0.64 to 1.66.",
            "Over the same loops in plain OpenMP or CUDA.",
            over_native(kernels.STREAM, "STREAM over the same loops without Kokkos"), PART % "stream"),
    Exhibit("figure 5", "The share of the peak bandwidth that MTTKRP of PASTA by Kokkos reaches.",
            "Of the kernel that works as PASTA's, and of automatic.", each(mttkrp), PART % "mttkrp"),
    Exhibit("figure 6", "How many times as fast MTTKRP by Kokkos is as hand-tuned code: 0.76 to 0.91 on "
            "NVIDIA's GPUs.", "Over the same loop in plain OpenMP or CUDA.",
            over_native(("mttkrp",), "MTTKRP over a loop without Kokkos"), PART % "mttkrp", [PASTA]),
    Exhibit("figure 7", "Time of Φ by SparTen with Π on the fly.", PHI, times_of(ATOMIC, SPARTEN, STORED),
            PART % "phi", [SPARTEN]),
    Exhibit("figure 8", "Time of Φ by ALTO on COO with atomics, in OpenMP.", PHI + " By Kokkos here.",
            times_of(ATOMICS), PART % "phi"),
    Exhibit("figure 9", "Time of Φ by ALTO on COO by pull, in OpenMP.", PHI + " By Kokkos here.",
            times_of(PULL), PART % "phi", [PULL]),
    Exhibit("figure 10", "How many times as fast ALTO on COO with atomics is as SparTen with Π on the "
            "fly: 1.04 to 2.13.", "coo-alto-atomic over atomic, and over SparTen.",
            over_sparten(ATOMICS), PART % "phi", [SPARTEN]),
    Exhibit("figure 11", "How many times as fast ALTO on COO by pull is as SparTen with Π on the fly.",
            "coo-alto-pull over atomic, and over SparTen.", over_sparten(PULL), PART % "phi", [SPARTEN, PULL]),
    Exhibit("threads", "All cores of a machine; there is no figure of fewer.",
            "Speed by the number of threads, on hosts.", each(threads),
            "no rows of fewer threads: part 'threads' of sporades-bench --paper and21 measures them on "
            "hosts of two cores or more"),
]
