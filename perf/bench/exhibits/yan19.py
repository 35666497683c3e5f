# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Yang, Li & Li, A pipeline computing method of SpTV for three-order tensors on CPU and GPU (TKDD
2019), section 7."""
import re

from bench import claims, kernels, names, papers, tables
from bench.exhibit import (Exhibit, Series, each, mean_of_each, of_peer, platforms, ratios, saved,
                           tensors_table, times_table)
from bench.originals import ORIGINALS
from bench.text import number

NOTE = ("Table 1 and figures 1 to 13 explain formats, kernels and the pipeline; they measure nothing. "
        "Values are floats. The paper does not say of which mode its times are: ours are of each.")
HOCOO, HOCSR, CFB, HOCFS = (Series(one, "sptv", one) for one in ("hocoo", "hocsr", "cfb", "hocfs"))
# As the paper prints its algorithms 3, 5 and 6; algorithm 4 is hocsr.
NO_ROWS = "there are no rows of it"
WARPS, THREADS, BLOCKS_CSR, BLOCKS_ELL = PRINTED = [Series(one, "sptv", one, NO_ROWS) for one in (
    "hocoo_warps", "cfb_threads", "hocfs_blocks_csr", "hocfs_blocks_ell")]
FILLS = [Series("ELL from %s" % fill, "sptv", "hocfs_blocks:%s" % fill)
         for fill in ("1", "0.9", "0.75", "0.5", "0.25")]
PASTA, PARTI = of_peer("PASTA", "sptv", "kernel"), of_peer("HiParTI", "sptv", "kernel")
SPLATT, TOOLBOX = (Series(one, "sptv", one, why) for one, why in (
    ("SPLATT", "its command has no product by a vector"),
    ("Tensor Toolbox", "MATLAB is not in the suite")))
PIPELINED = [Series(one + ", pipeline", "streamed_sptv", one) for one in ("cfb", "hocfs")]
FORMATS = ("hocoo", "hocsr", "cfb", "hocfs")
# (Slices, fibers) of modes 1 to 3 in tables 4 to 6. All words there are those that words() makes of them.
PUBLISHED = {
    "user-rated-movies": ((10109, 165687), (60, 27567), (2113, 855598)),
    "user-tagged-movies": ((5908, 25086), (31, 4688), (2113, 27712)),
    "user-tagged-bookmarks": ((69223, 100484), (31, 34551), (1867, 104799)),
    "user-tagged-artists": ((12523, 13788), (60, 2223), (1892, 71064)),
    "ratings-m1": ((3706, 89427), (31, 17723), (6039, 1000209)),
    "ratings-m20": ((14026, 174067), (31, 26464), (7119, 1048575)),
    "user-shopping-x10": ((9999, 9516446), (9999, 9950117), (99999, 9950296)),
    "user-shopping-x22": ((9999, 12642118), (1999, 19033609), (99999, 19801191)),
    "user-shopping-x40": ((9999, 9502956), (999, 25917967), (99999, 29555291)),
}


def words(dims, nonzeros, mode, slices, fibers):
    """Of the four formats, of order 3."""
    return (4 * nonzeros, claims.hocsr_words(dims, nonzeros, mode), 2 * (nonzeros + fibers),
            2 * (nonzeros + fibers + slices))


def storage(mode):
    """make: slices, fibers and words a nonzero in a mode, beside the paper's. Those of cfb and hocfs are
    counted; hocoo's and hocsr's follow from dims and nonzeros, so that hocsr need not be built."""
    def make(data, _, machine):
        rows = []
        cfb, hocfs = (Series(one, "build", one).cases(data, machine) for one in ("cfb", "hocfs"))
        for tensor in cfb:
            sides = [found.get(tensor, {}).get(mode) for found in (cfb, hocfs)]
            if not all(row and row.get("counters", {}).get("words") for row in sides) or (
                    len(sides[0]["dims"]) != 3):
                continue
            nonzeros, (few, many) = sides[0]["nnz"], [int(row["counters"]["words"]) for row in sides]
            own = shown(sides[0]["dims"], nonzeros, mode, ((many - few) // 2, few // 2 - nonzeros))
            there = shown(*ORIGINALS[tensor], mode, PUBLISHED[tensor][mode]) \
                if tensor in PUBLISHED else [None] * len(own)
            rows.append([tensor, number(nonzeros / 1e6) + " M"] + [
                one + (" (%s)" % other if other else "") for one, other in zip(own, there)])
        return tables.Table("%s: words a nonzero in mode %d" % (machine.name, mode + 1),
                            ["tensor", "nonzeros", "slices", "fibers"] + list(FORMATS), rows,
                            "In brackets: the paper's.")

    def shown(dims, nonzeros, mode, counts):
        return [*map(str, counts), *(number(one / nonzeros)
                                     for one in words(dims, nonzeros, mode, *counts))]
    return each(make)


def times_on(gpu, series):
    """make: milliseconds of each mode, on GPUs or on hosts."""
    return lambda data, _: [times_table(data, machine, series, by_mode=True)
                            for machine in data.machines if machine.gpu == gpu]


def improvements(gpu, pairs):
    """make: how much less time the first of a pair takes than the second; gpu: None for all machines."""
    def make(data, draw):
        pictures = []
        for machine in data.machines:
            if gpu in (None, machine.gpu):
                found = {"%s over %s" % (own.label, other.label): ratios(
                    own.cases(data, machine), other.cases(data, machine)) for own, other in pairs}
                pictures.append(draw.bars(
                    data, "improvements", "SpTV: time saved (%s)%s" % (data.scalar, data.of(machine)),
                    "By how many per cent of the second's time the first is faster, in the modes that "
                    "both have together: longer is faster, left of 0 it is slower.",
                    saved({label: one for label, one in found.items() if one}), "per cent", 0))
        return pictures
    return make


def thresholds(data, _, machine):
    """Times by each threshold, and without ELL slices and without others; None where there are no rows."""
    if not any(one.cases(data, machine) for one in FILLS):
        return None
    return times_table(data, machine, [BLOCKS_CSR, *FILLS, BLOCKS_ELL], by_mode=True)


def pipelines(data, draw, machine):
    """By how much less time pipelines take than their steps one after another."""
    found = {}
    for one in PIPELINED:
        for family, modes in one.cases(data, machine).items():
            rows = [row for row in modes.values() if row.get("counters", {}).get("T_s")]
            steps = sum(row["counters"]["T_s"] / 1e3 for row in rows)
            if rows:
                found.setdefault(one.label, {})[family] = 100 * (
                    1 - sum(row["median"] for row in rows) / steps)
    return draw.bars(data, "pipelines", "Time that pipelines save (%s)%s" % (
        data.scalar, data.of(machine)),
        "By how many per cent of the time of its steps one after another the pipeline is faster, all "
        "modes together.", found, "per cent", 0)


def times_by_streams(data, machine):
    """{(cfb or hocfs, family): {streams: (seconds of all modes, the least collections of one)}};
    strategies such as cfb:4 have so many streams, cfb as many as the library takes."""
    found = {}
    for row in kernels.of_largest([row for row in machine.timed()
                                   if row["kernel"] == "streamed_sptv"
                                   and row["scalar"] == data.scalar]):
        match = re.fullmatch(r"(cfb|hocfs)(:\d+)?", row["strategy"] or "")
        count = int(row.get("counters", {}).get("streams", 0))
        if match and count:
            own = found.setdefault((match.group(1), names.family(row["tensor"])), {})
            own.setdefault(count, {})[row["mode"]] = row
    return {key: {count: (sum(row["median"] for row in modes.values()),
                          min(row["counters"].get("collections", 1) for row in modes.values()))
                  for count, modes in own.items() if len(modes) == len(next(iter(modes.values()))["dims"])}
            for key, own in found.items()}


FEWEST = 5  # collections of which streams can make a difference


def streams(data, draw):
    """A table of all tensors, and their mean."""
    made = []
    for machine in data.machines:
        found = times_by_streams(data, machine)
        counts = sorted({count for own in found.values() for count in own})
        made.append(tables.Table(
            "%s: milliseconds by the number of streams (%s)" % (machine.name, data.scalar),
            ["format", "tensor", "collections"] + list(map(str, counts)),
            [[*key, "%d" % min(least for _, least in own.values())] +
             [number(1e3 * own[count][0]) if count in own else "–" for count in counts]
             for key, own in found.items() if own],
            "All modes together. Collections: the least of a mode; with one there is nothing to overlap."))
        means = {form: mean_of_each({count: {
            family: own[count][0] / own[1][0] for (one, family), own in found.items()
            if one == form and {1, count} <= set(own) and own[count][1] >= FEWEST}
            for count in counts}) for form in ("cfb", "hocfs")}
        made.append(draw.lines(
            data, "streams", "Pipelines by the number of streams (%s)%s" % (data.scalar, data.of(machine)),
            "Time of all modes over that with one stream, geometric means over the tensors of at least %d "
            "collections: lower is faster." % FEWEST, {form: {count: mean for count, mean in own.items() if mean}
                        for form, own in means.items()}, ("streams", "time / time with one")))
    return made


PART = "no rows: part '%s' of sporades-bench --paper yan19 measures them"
ALL = [HOCOO, HOCSR, CFB, HOCFS, *PRINTED]
OVER = [(BLOCKS_ELL, one) for one in (WARPS, HOCSR, THREADS)]
EXHIBITS = [
    Exhibit("table 2", "An i7-6700 and a GTX 1070.", "The machines of these results.", platforms, ""),
    Exhibit("table 3", "Nine tensors of GroupLens and of shops.", "Look-alikes.",
            tensors_table(papers.PAPERS["yan19"]), ""),
    Exhibit("table 4", "Words of four formats in mode 1, and numbers of slices and fibers.",
            "The same, words a nonzero.", storage(0), PART % "storage"),
    Exhibit("table 5", "The same in mode 2.", "The same, words a nonzero.", storage(1), PART % "storage"),
    Exhibit("table 6", "The same in mode 3.", "The same, words a nonzero.", storage(2), PART % "storage"),
    Exhibit("table 7", "Milliseconds of SpTV by each format on a processor, and of other libraries.",
            "Milliseconds of each mode on hosts; the order of sums is fixed here.",
            times_on(False, ALL + [TOOLBOX, PASTA, PARTI, SPLATT]),
            PART % "sptv" + ", on a host", PRINTED + [TOOLBOX, PASTA, PARTI, SPLATT]),
    Exhibit("figure 14", "Time that HOCFS by ELL saves on a processor: 60, 39 and 56 % of HOCOO, HOCSR "
            "and CFB, 59 % of ParTI and 7 % of SPLATT.", "The same on hosts.",
            improvements(False, OVER + [(BLOCKS_ELL, one) for one in (PASTA, PARTI, SPLATT)]),
            PART % "sptv" + ", on a host", PRINTED + [PASTA, PARTI, SPLATT]),
    Exhibit("table 8", "Milliseconds of SpTV by each format and by two pipelines on a GPU, and of "
            "ParTI.", "Milliseconds of each mode on GPUs; a pipeline's tensor comes from the host's "
            "memory, others are on the GPU.", times_on(True, ALL + PIPELINED + [PASTA]),
            PART % "sptv" + ", on a GPU", PRINTED + [PASTA]),
    Exhibit("figure 15", "Time that HOCFS saves on a GPU: 66, 56 and 64 % of HOCOO, HOCSR and CFB, 45 % "
            "of ParTI.", "The same, by ELL, on GPUs.", improvements(True, OVER + [(BLOCKS_ELL, PASTA)]),
            PART % "sptv" + ", on a GPU", PRINTED + [PASTA]),
    Exhibit("figure 16", "Time that HOCFS by CSR saves of HOCSR's: 39 % on a processor, 51 % on a GPU; "
            "by ELL, 10 % of that by CSR on a GPU.", "Both on each machine.",
            improvements(None, [(BLOCKS_CSR, HOCSR), (BLOCKS_ELL, BLOCKS_CSR)]), PART % "sptv"),
    Exhibit("threshold (section 1)", "The best threshold of density is promised, and not given.",
            "Milliseconds of each mode where slices whose fill (nonzeros over rows times longest row) "
            "is at least a threshold are ELL.", each(thresholds), PART % "fills"),
    Exhibit("figure 17", "Time that pipelines save: 12 % by CFB, 7 % by HOCFS.",
            "The same, of the steps of the same run one after another.", each(pipelines),
            PART % "pipelines"),
    Exhibit("streams (section 7.3)", "3 to 5 streams are best.", "Pipelines of 1 to 8 streams.",
            streams, PART % "pipelines"),
]
