# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ahmad, Cecka, Garland & Hall, Exploring data layout for sparse tensor times dense matrix on GPUs
(TACO 2024): what its abstract says."""
from bench import claims, noise, papers, spttm, tables
from bench.exhibit import Exhibit, Series, each, of_peer, platforms, ratios, tensors_table, times_table
from bench.text import number, percent

NOTE = ("Only the paper's record and abstract were at hand: the numbers of its figures and tables, its "
        "tensors, values and numbers of components are not known. The results of the abstract stand "
        "for them. A case is a mode of a tensor; values are floats, R = 16.")
LAYOUT = Series("SpMM in the layout", "spttm", "SpMM in the layout")
LIBRARY = Series("Kokkos Kernels' SpMM", "spttm", "spmm_library")
CUSPARSE = Series("cuSPARSE", "spttm", "cuSPARSE", "it is where CUDA is; rocSPARSE where HIP is")
FIVE = Series("the fastest of Ma's five", "spttm", "the five")
PASTA = of_peer("PASTA", "spttm", "kernel")
# The groups of bench/claims.py that a tree is fitted to choose from: the paper's, and the library's.
THREE = "SpMM in the layout, cuSPARSE, the five"
OWN = ", ".join(spttm.CHOSEN)
SPMM = Series("SpMM", "spttm", "SpMM")
AUTOMATIC = Series("automatic", "spttm", "automatic")
BEST = Series("the best", "spttm", "the best")
UNFOLDED = Series("unfolding, then SpMM", "spttm_unfold", "",
                  "part 'unfold' of sporades-bench --paper ahm24 measures it")
UNFOLDED_CUSPARSE = Series("unfolding, then cuSPARSE", "spttm_unfold", "cuSPARSE", CUSPARSE.why)
CONTENDERS = [LAYOUT, LIBRARY, CUSPARSE, FIVE, PASTA]


def cases(data, machine, series):
    """{(family, mode): row}, modes one by one."""
    return {(family, mode): row for family, modes in series.cases(data, machine).items()
            for mode, row in modes.items() if isinstance(mode, int)}


def outperforms(data, _):
    """In how many cases SpMM is faster than each of the others."""
    rows = []
    for machine in data.machines:
        own = cases(data, machine, SPMM)
        for base in (FIVE, PASTA):
            other = cases(data, machine, base)
            both = [case for case in own if case in other]
            if both:
                won = sum(own[case]["median"] < other[case]["median"] for case in both)
                rows.append([machine.name, base.label, str(len(both)), percent(won / len(both))])
    return [tables.Table("In how many cases SpMM is faster",
                         ["machine", "than", "cases", "share"], rows)]


def wins(data, _):
    """In how many cases each of those that were measured is the fastest."""
    rows = []
    for machine in data.machines:
        found = {one.label: cases(data, machine, one) for one in CONTENDERS}
        found = {label: own for label, own in found.items() if own}
        shared = [case for case in next(iter(found.values()), {})
                  if all(case in own for own in found.values())]
        winners = [min(found, key=lambda label, at=case: found[label][at]["median"])
                   for case in shared]
        rows += [[machine.name, label, "%d of %d" % (winners.count(label), len(shared))]
                 for label in found if shared]
    return [tables.Table("The fastest, by cases", ["machine", "kernel", "cases"], rows)]


def chosen(data, _):
    """How close automatic comes to the best of all strategies: mode by mode."""
    rows = []
    for machine in data.machines:
        own, best = cases(data, machine, AUTOMATIC), cases(data, machine, BEST)
        speeds = [best[case]["median"] / row["median"] for case, row in own.items() if case in best]
        if speeds:
            rows.append([machine.name, str(len(speeds)), number(noise.geometric_mean(speeds)),
                         number(min(speeds))])
    return [tables.Table("The speed of what automatic chooses over that of the best strategy",
                         ["machine", "cases", "geometric mean", "least"], rows)] + [trees(data)]


def trees(data):
    """How well trees choose for tensors that were left out."""
    rows = []
    for machine in data.machines:
        for words in (THREE, OWN):
            right, regret, single = (claims.values("spttm, a tree of %s: %s" % (words, end), machine,
                                                   data.machines)
                                     for end in ("share right", "time over the best",
                                                 "over one choice, where they differ"))
            if right:
                worst = [one.value for one in regret]
                rows.append([machine.name, words, str(len(worst)), percent(right[0].value),
                             number(noise.geometric_mean(worst)), number(max(worst)),
                             number(noise.geometric_mean([one.value for one in single]))])
    return tables.Table(
        "A tree that was fitted to the other tensors",
        ["machine", "of", "cases", "right", "time over the best, mean", "worst",
         "times as fast as one choice"], rows,
        "All ranks and types of values. The last column: over the best single choice, where the two "
        "differ; 1 where they never do. The second tree is of what automatic may choose; on hosts "
        "that is lanes alone.")


def unfolding(data, draw, machine):
    by = next((one for one in (UNFOLDED_CUSPARSE, UNFOLDED) if one.cases(data, machine)), UNFOLDED)
    sides = by.cases(data, machine)
    found = {one.label: ratios(one.cases(data, machine), sides) for one in (LAYOUT, FIVE)}
    return draw.bars(data, "unfolding", "SpTTM over %s (R = %s)%s" % (
        by.label, data.rank, data.of(machine)),
        "How many times as fast a product of a tensor that is ready is as sorting, unfolding and "
        "multiplying it, all modes together.",
        {label: values for label, values in found.items() if values}, "times as fast", 1)


def all_times(data, _, machine):
    return times_table(data, machine, CONTENDERS + [AUTOMATIC, UNFOLDED, UNFOLDED_CUSPARSE])


PART = "no rows: part '%s' of sporades-bench --paper ahm24 measures them"
EXHIBITS = [
    Exhibit("machines", "Not in the abstract.", "The machines of these results.", platforms, ""),
    Exhibit("tensors", "Not in the abstract.", "Look-alikes of FROSTT's that the other papers have.",
            tensors_table(papers.PAPERS["ahm24"]), ""),
    Exhibit("result 1 of the abstract", "SpMM can outperform PASTA in 70.9 % of the cases.",
            "SpMM by any strategy, over what stands for PASTA.", outperforms, PART % "spttm", [PASTA]),
    Exhibit("result 2 of the abstract", "None of three is best overall: SpMM in a hierarchical layout, "
            "unfolding followed by cuSPARSE, PASTA.", "How often each is the fastest; its product only, "
            "without sorting or unfolding.", wins, PART % "spttm", [CUSPARSE, PASTA]),
    Exhibit("result 3 of the abstract", "A decision tree finds the best kernel by properties of the "
            "tensor.", "What automatic chooses, by a decision tree on GPUs; on hosts its tree is one leaf, "
            "lanes. Trees of the three and of the library's strategies, fitted without the tensor that "
            "they choose for.", chosen, PART % "spttm", [CUSPARSE]),
    Exhibit("unfolding", "Unfolding followed by cuSPARSE is one of the three.",
            "The layout that is ready over unfolding the tensor first, with cuSPARSE, or Kokkos Kernels "
            "where that is not.",
            each(unfolding), PART % "unfold", [CUSPARSE]),
    Exhibit("times", "Not in the abstract.", "Milliseconds of all modes.", each(all_times),
            PART % "spttm", [CUSPARSE, PASTA]),
]
