# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ma, Li, Wu, Yan, Sun & Vuduc, Optimizing sparse tensor times matrix on GPUs (JPDC 2018), section 7."""
from bench import names, papers, tables
from bench.exhibit import (Exhibit, Series, each, platforms, ratios, tensors_table,
                           times_table)
from bench.text import number, percent

NOTE = ("Table 1 and figures 1 to 3 explain notation, formats and SpMM; they measure nothing. Values "
        "are floats, and R = 16 where nothing else is said.")
FIVE = Series("the fastest of the five", "spttm", "the five")
NAIVE = Series("naive", "spttm", "naive")
SEMI_SPARSE, CHUNKS, AS_SPARSE = OF_SEMI_SPARSE = [Series(label, "sspttm", strategy, why) for
                                                   label, strategy, why in (
    ("SspTTM", "semi_sparse", ""), ("SspTTM, a block a chunk", "chunks", "there are no rows of it"),
    ("SpTTM", "as_sparse", ""))]
FCOO = Series("F-COO", "spttm", "F-COO", "its programs are not among those that perf/peers/run can run")
TOOLBOX = Series("Tensor Toolbox", "spttm", "Tensor Toolbox", "MATLAB is not in the suite")
PRINTED_RUN, OWN_RUN = RUNS = [Series(label, papers.TUCKER_RUN, strategy, "") for label, strategy in (
    ("SpTTM, SspTTM, direct SVD", "semi_sparse_svd"), ("automatic", "automatic"))]
TWO_MACHINES = ("needs results of a GPU and of a host on the same tensors, as made with one --scale: "
                "perf/report GPU.json HOST.json")


def over_host(pairs, title):
    """make: how many times as fast GPUs are as the first host. pairs: [(series of GPUs, of hosts)]."""
    def make(data, draw):
        host = next((one for one in data.machines if not one.gpu), None)
        found = {}
        for gpu in data.machines if host else ():
            for own, other in pairs if gpu.gpu else ():
                found[own.label + data.of(gpu)] = ratios(own.cases(data, gpu),
                                                         other.cases(data, host))
        return [draw.bars(
            data, "over-host", "%s (%s, R = %s)" % (title, data.scalar, data.rank),
            "How many times as fast a GPU is as all cores of %s: longer is faster."
            % (host.name if host else "a host"),
            {label: values for label, values in found.items() if values}, "times as fast", 1)]
    return make


def sequential(data, _):
    """With one thread, on hosts."""
    rows = []
    for machine in data.machines:
        for row in machine.rows.values():
            if (row["kernel"], row["strategy"], row["threads"], row["mode"], row["scalar"],
                    row["rank"]) == ("spttm", "naive", 1, "all", data.scalar, data.rank) and (
                        row["rounds"] and not machine.gpu):
                rows.append([machine.name, names.family(row["tensor"]), str(row["nnz"]),
                             number(row["median"]), number(row["median"] / len(row["dims"]))])
    return [tables.Table("Sequential SpTTM", ["machine", "tensor", "nonzeros", "seconds, all modes",
                                              "seconds, a mode on average"], rows)]


def storage(data, _, machine):
    """GB of a copy for mode 1 of two formats; sorted coordinates take as many in every mode, and are
    built for all of them together."""
    found = {}
    for row in machine.timed():
        if row["kernel"] == "build" and row["scalar"] == data.scalar and row["mode"] in (None, 0) and (
                row.get("storage_bytes") and row.get("dims")):
            copies = len(row["dims"]) if row["mode"] is None else 1
            found.setdefault(row["tensor"], {})[row["strategy"]] = number(
                row["storage_bytes"] / copies / 1e9)
    formats = ("coo_sorted", "hierarchical")
    return tables.Table("%s: GB of a copy for mode 1" % machine.name,
                        ["tensor", "sorted coordinates", "SpTTM's format"],
                        [[tensor] + [own.get(one, "–") for one in formats]
                         for tensor, own in found.items() if any(one in own for one in formats)])


PARTS_OF_RUN = ("ttm_chain ms", "singular vectors ms", "core ms", "preparation ms")


def tucker(data, draw):
    """Whole runs by each method of singular vectors, and GPUs over the first host."""
    found = []
    for machine in data.machines:
        rows = []
        for row in machine.timed():
            if row["kernel"] == papers.TUCKER_RUN and (row["scalar"], row["rank"]) == (
                    data.scalar, data.rank):
                counters = row.get("counters", {})
                shares = [percent(counters[part] / 1e3 / row["median"]) if part in counters else "–"
                          for part in PARTS_OF_RUN]
                rows.append([row["tensor"], row["strategy"], number(row["median"])] + shares +
                            ["%.4f" % counters["fit"] if "fit" in counters else "–"])
        found.append(tables.Table(
            "%s: whole runs of Tucker (%s, ranks %s)" % (machine.name, data.scalar, data.rank),
            ["tensor", "singular vectors by", "seconds", "TTM chains", "singular vectors", "core",
             "copying, sorting and start", "fit"], rows,
            "Three iterations from one random start. Ranks are a mode's length where that is less. "
            "semi_sparse_svd: chains of SpTTM and SspTTM, and a direct SVD, as in the paper (there on "
            "the host; here by LAPACK on hosts and cuSOLVER on GPUs); svd: the same SVD after the "
            "library's chains; streamed: on a GPU, with the nonzeros' copies on the host, from which each "
            "chain moves them."))
    return found + over_host([(one, one) for one in RUNS], "Whole runs of Tucker over a host")(data, draw)


def figure(number_of_it):
    """One of bench/pictures/spttm.py, a machine each."""
    return each(lambda data, draw, machine: getattr(draw.spttm, number_of_it)(data, machine))


def figure_7(data, draw):
    return [draw.spttm.figure_7(data)] + over_host(
        [(SEMI_SPARSE, SEMI_SPARSE), (CHUNKS, SEMI_SPARSE), (AS_SPARSE, AS_SPARSE)],
        "SspTTM and SpTTM over a host on semi-sparse tensors")(data, draw) + [
            times_table(data, machine, OF_SEMI_SPARSE) for machine in data.machines]


PART = "no rows: part '%s' of sporades-bench --paper ma18 measures them"
EXHIBITS = [
    Exhibit("table 2", "A Xeon E5-2650 v4, a K40c and a P100.", "The machines of these results.",
            platforms, ""),
    Exhibit("table 3", "Eleven tensors of FROSTT and HaTen2.",
            "Look-alikes; dims and nonzeros of some are rounded, as the paper has them.",
            tensors_table(papers.PAPERS["ma18"]), ""),
    Exhibit("figure 4", "How many times as fast SpTTM on two GPUs, by the best of five strategies, and "
            "F-COO are as SpTTM on 12 cores.", "The fastest of the five on a GPU over naive on all "
            "cores of the first host.", over_host([(FIVE, NAIVE)], "SpTTM over a host"), TWO_MACHINES,
            [FCOO]),
    Exhibit("figure 5", "Flops a second of SpTTM on two GPUs.",
            "The fastest of the five and automatic.", figure("figure_5"), PART % "spttm"),
    Exhibit("table 4", "Seconds of Tensor Toolbox and of sequential SpTTM on three tensors.",
            "naive with one thread, on hosts.", sequential,
            "no rows of one thread: part 'sequential' of sporades-bench --paper ma18 measures them on "
            "hosts", [TOOLBOX]),
    Exhibit("figure 6", "Time of the five strategies over that of naive on a P100; section 7.3.1 has "
            "R = 32, too.", "The same.", figure("figure_6"), PART % "spttm"),
    Exhibit("figure 7", "How many times as fast SspTTM and SpTTM on a semi-sparse tensor are on GPUs as "
            "on 12 cores.", "SspTTM over SpTTM on each machine, and, of results of a GPU and a host, "
            "each over the host; SspTTM by the library's kernel, and with a block of threads a chunk, as "
            "there.", figure_7, PART % "sspttm", [CHUNKS]),
    Exhibit("table 5", "GB that Tensor Toolbox and SpTTM take in mode 1.",
            "GB of a copy of the format that SpTTM uses, and of sorted coordinates.", each(storage),
            PART % "storage",
            [Series("Tensor Toolbox", "build", "Tensor Toolbox", TOOLBOX.why)]),
    Exhibit("figure 8", "Time of SpTTM in each mode over that in mode 1, by the best of the five.",
            "The same, by how uneven the fibers are.", figure("figure_8"),
            PART % "spttm"),
    Exhibit("figure 9", "Speed of SpTTM in mode 1 for R = 8 to 64 on choa, nell2, uber and enron.",
            "The same, by the fastest of the five.", figure("figure_9"), PART % "ranks"),
    Exhibit("table 6", "Seconds of whole runs of Tucker on 12 cores and on a GPU: choa 49.3 and 15.6, "
            "nell2 48.6 and 16.7, enron 389.6 and 290.3; ranks and iterations are not told.",
            "Seconds of whole runs, and what they go into.", tucker, PART % "tucker", RUNS),
]
