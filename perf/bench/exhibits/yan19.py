# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Yang, Li & Li, A pipeline computing method of SpTV for three-order tensors on CPU and GPU (TKDD
2019), section 7."""
import re

from bench import kernels, names, papers, tables
from bench.exhibit import (Exhibit, Series, each, platforms, ratios, saved, tensors_table, times_table)
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
PARTI, SPLATT, TOOLBOX = (Series(one, "sptv", one, why) for one, why in (
    ("ParTI", "another library, not measured beside Sporades"),
    ("SPLATT", "another library, not measured beside Sporades"),
    ("Tensor Toolbox", "MATLAB is not in the suite")))
PIPELINED = [Series(one + ", pipeline", "streamed_sptv", one) for one in ("cfb", "hocfs")]
FORMATS = ("hocoo", "hocsr", "cfb", "hocfs")
# Words of these formats in all modes: the sums of the paper's tables 4 to 6.
WORDS = {
    "user-rated-movies": (10267176, 4672557630, 7231292, 7255856),
    "user-tagged-movies": (575484, 4663748441, 402714, 418818),
    "user-tagged-bookmarks": (5251116, 11596377341, 3105226, 3247468),
    "user-tagged-artists": (2237748, 41734074, 1293024, 1321974),
    "ratings-m1": (12002508, 30181086, 8215972, 8235524),
    "ratings-m20": (12582900, 9362215943, 8789662, 8832014),
    "user-shopping-x10": (119999976, 2180360564, 118833706, 119073700),
    "user-shopping-x22": (239998776, 1382560924, 222953224, 223177218),
    "user-shopping-x40": (359994348, 1343294006, 309949602, 310171596),
}


def storage(mode):
    """make: words a nonzero of copies for one mode, where they are built one by one; 2: those of all
    modes together elsewhere, beside the paper's."""
    def make(data, _, machine):
        rows, found = [], {one: Series(one, "build", one).cases(data, machine) for one in FORMATS}
        for tensor in dict.fromkeys(one for own in found.values() for one in own):
            cells, is_whole = [], False
            for at, one in enumerate(FORMATS):
                modes = found[one].get(tensor, {})
                row = modes.get(mode) or (modes.get(None) if mode == 2 else None)
                words = row and (row.get("counters", {}).get("words") or
                                 row.get("storage_bytes", 0) / 4) / row["nnz"]
                is_whole = is_whole or row is not None and row["mode"] is None
                cells.append(number(words) if words else "–")
                if row is not None and row["mode"] is None and tensor in WORDS:
                    cells[-1] += " (%s)" % number(WORDS[tensor][at] / ORIGINALS[tensor][1])
            if any(cell[0] != "–" for cell in cells):
                rows.append([tensor, "all" if is_whole else str(mode + 1)] + cells)
        return tables.Table("%s: words a nonzero" % machine.name,
                            ["tensor", "modes"] + list(FORMATS), rows,
                            "In brackets: of the paper's tables 4 to 6 together." * (mode == 2))
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


def streams(data, draw, machine):
    """Strategies such as cfb:4: so many streams."""
    found = {}
    for row in kernels.of_largest([row for row in machine.timed()
                                   if row["kernel"] == "streamed_sptv"
                                   and row["scalar"] == data.scalar]):
        match = re.fullmatch(r"(cfb|hocfs):(\d+)", row["strategy"] or "")
        if match:
            label = "%s, %s" % (match.group(1), data.tensor_names(names.family(row["tensor"])))
            own = found.setdefault(label, {})
            own[int(match.group(2))] = own.get(int(match.group(2)), 0) + 1e3 * row["median"]
    return draw.lines(data, "streams", "Pipelines by the number of streams (%s)%s" % (
        data.scalar, data.of(machine)),
        "Milliseconds of all modes together: lower is faster.", found, ("streams", "ms"))


PART = "no rows: part '%s' of sporades-bench --paper yan19 measures them"
TOGETHER = ("builds make the copies of all modes together, and the rows have the bytes of all: see "
            "table 6")
ALL = [HOCOO, HOCSR, CFB, HOCFS, *PRINTED]
OVER = [(BLOCKS_ELL, one) for one in (WARPS, HOCSR, THREADS)]
EXHIBITS = [
    Exhibit("table 2", "An i7-6700 and a GTX 1070.", "The machines of these results.", platforms, ""),
    Exhibit("table 3", "Nine tensors of GroupLens and of shops.", "Look-alikes.",
            tensors_table(papers.PAPERS["yan19"]), ""),
    Exhibit("table 4", "Words of four formats in mode 1, and numbers of slices and fibers.",
            "The same of a copy for mode 1.", storage(0), TOGETHER),
    Exhibit("table 5", "The same in mode 2.", "The same of a copy for mode 2.", storage(1), TOGETHER),
    Exhibit("table 6", "The same in mode 3.", "Words of the copies of all modes together, where these "
            "are built together.", storage(2), PART % "storage",
            [Series(one, "build", one) for one in FORMATS]),
    Exhibit("table 7", "Milliseconds of SpTV by each format on a processor, and of other libraries.",
            "Milliseconds of each mode on hosts; the order of sums is fixed here.",
            times_on(False, ALL + [TOOLBOX, PARTI, SPLATT]),
            PART % "sptv" + ", on a host", PRINTED + [TOOLBOX, PARTI, SPLATT]),
    Exhibit("figure 14", "Time that HOCFS by ELL saves on a processor: 60, 39 and 56 % of HOCOO, HOCSR "
            "and CFB, 59 % of ParTI and 7 % of SPLATT.", "The same on hosts.",
            improvements(False, OVER + [(BLOCKS_ELL, PARTI), (BLOCKS_ELL, SPLATT)]),
            PART % "sptv" + ", on a host", PRINTED + [PARTI, SPLATT]),
    Exhibit("table 8", "Milliseconds of SpTV by each format and by two pipelines on a GPU, and of "
            "ParTI.", "Milliseconds of each mode on GPUs; a pipeline's tensor comes from the host's "
            "memory, others are on the GPU.", times_on(True, ALL + PIPELINED + [PARTI]),
            PART % "sptv" + ", on a GPU", PRINTED + [PARTI]),
    Exhibit("figure 15", "Time that HOCFS saves on a GPU: 66, 56 and 64 % of HOCOO, HOCSR and CFB, 45 % "
            "of ParTI.", "The same, by ELL, on GPUs.", improvements(True, OVER + [(BLOCKS_ELL, PARTI)]),
            PART % "sptv" + ", on a GPU", PRINTED + [PARTI]),
    Exhibit("figure 16", "Time that HOCFS by CSR saves of HOCSR's: 39 % on a processor, 51 % on a GPU; "
            "by ELL, 10 % of that by CSR on a GPU.", "Both on each machine.",
            improvements(None, [(BLOCKS_CSR, HOCSR), (BLOCKS_ELL, BLOCKS_CSR)]), PART % "sptv"),
    Exhibit("threshold (section 1)", "The best threshold of density is promised, and not given.",
            "Milliseconds of each mode where slices whose fill (nonzeros over rows times longest row) "
            "is at least a threshold are ELL.", each(thresholds), PART % "fills"),
    Exhibit("figure 17", "Time that pipelines save: 12 % by CFB, 7 % by HOCFS.",
            "The same, of the steps of the same run one after another.", each(pipelines),
            PART % "pipelines"),
    Exhibit("streams (section 7.3)", "3 to 5 streams are best.", "Pipelines of 3 to 5 streams.",
            each(streams), "sporades_perf runs pipelines with the library's number of streams, 3"),
]
