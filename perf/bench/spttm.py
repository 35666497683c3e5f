# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SpTTM and HOOI as Ma, Li, Wu, Yan, Sun & Vuduc measure them (JPDC 2018), from rows of results."""
from bench import kernels, names, noise

# Their strategies, each of which adds one idea to the one before, and what each adds on their P100:
# by how many per cent it is faster than the one before, on average over tensors (section 7.3.1).
STEPS = ("naive", "fine_grained", "coalesced", "rank_blocked", "scratch")
OWN = ("lanes", "automatic")
# What the tree of `automatic` chooses from on GPUs, and what it asks. On hosts it is one leaf, lanes.
CHOSEN = ("lanes", "spmm_rows", "spmm_nonzeros")
FEATURES = ("order", "nonzeros", "fiber_length", "fiber_spread", "row_bytes")
PUBLISHED = {16: (53, 29, 7, 40), 32: (74, 37, -20, 43)}


def equation_3(row):
    """Flops of a row of SpTTM: 2 nnz R for each of its products."""
    products = len(row["dims"]) if row["mode"] == "all" else 1
    return 2 * row["nnz"] * row["rank"] * products


def row_bytes(rank, scalar):
    """Of a row of the matrix, with its padding to whole tiles of four columns."""
    return -(-rank // 4) * 4 * kernels.SIZES[scalar]


def features(row):
    """What the tree asks of a row of one mode; None where the row does not tell it."""
    counters = row.get("counters", {})
    length, deviation = counters.get("fiber_length"), counters.get("fiber_deviation")
    if not length or deviation is None or not row.get("nnz") or not row.get("dims"):
        return None
    return dict(zip(FEATURES, (len(row["dims"]), row["nnz"], length, deviation / length,
                               row_bytes(row["rank"], row["scalar"]))))


def _counted(rows):
    """Those of SpTTM of which Equation 3 can be told."""
    return [row for row in rows if row["kernel"] == "spttm"
            and row.get("nnz") and row.get("dims") and row["rank"]]


def speed(whole):
    """Flops a second by Equation 3."""
    return sum(map(equation_3, whole.rows)) / whole.seconds


def speeds(rows, scalar, rank):
    """Figure 5: {family: (by automatic, by the fastest of STEPS, which that is)}; None where not
    measured."""
    rows = _counted(rows)
    own = kernels.wholes(rows, "spttm", scalar, rank, strategy="automatic")
    steps = {step: kernels.wholes(rows, "spttm", scalar, rank, strategy=step) for step in STEPS}
    measured = {family: {step for step in STEPS if family in steps[step]}
                for wholes in steps.values() for family in wholes}
    best = kernels.of_all({family: max((speed(steps[step][family]), step) for step in own_steps)
                           for family, own_steps in measured.items()}, measured)
    return {family: (speed(own[family]) if family in own else None, *best.get(family, (None, None)))
            for family in dict.fromkeys((*own, *best))}


def ranks_of_steps(rows, scalar):
    """Numbers of components for which strategies were measured beside naive, in all modes."""
    ranks = {step: {row["rank"] for row in _counted(rows) if row["rounds"]
                    and row["scalar"] == scalar and row["strategy"] == step} for step in STEPS}
    both = ranks["naive"] & set().union(*(ranks[step] for step in STEPS[1:]))
    return [rank for rank in sorted(both) if over_naive(rows, scalar, rank)]


def over_naive(rows, scalar, rank):
    """Figure 6: {strategy: {family: time of all modes over that of naive}}."""
    naive = kernels.wholes(rows, "spttm", scalar, rank, strategy="naive")
    found = {}
    for strategy in STEPS + OWN:
        wholes = kernels.wholes(rows, "spttm", scalar, rank, strategy=strategy)
        ratios = {family: wholes[family].seconds / naive[family].seconds
                  for family in wholes
                  if family in naive and wholes[family].tensor == naive[family].tensor}
        if ratios:
            found[strategy] = ratios
    return found


def added(over, step):
    """How many times as fast a step is as the one before: the geometric mean over the tensors that
    both have; None where there are none. over: of over_naive."""
    before = STEPS[STEPS.index(step) - 1]
    both = [over[before][family] / ratio for family, ratio in over.get(step, {}).items()
            if family in over.get(before, {})]
    return noise.geometric_mean(both)


def semi_sparse(rows, scalar, rank):
    """Figure 7: {family: how many times as fast SspTTM is as SpTTM on the same tensor}."""
    own, as_sparse = (kernels.wholes(rows, "sspttm", scalar, rank, strategy=strategy)
                      for strategy in ("semi_sparse", "as_sparse"))
    return {family: as_sparse[family].seconds / own[family].seconds
            for family in own
            if family in as_sparse and own[family].tensor == as_sparse[family].tensor}


def by_best(make):
    """(whose times, make(strategies)): those of the fastest of STEPS, or of automatic where STEPS give
    nothing."""
    for whose, strategies in (("the fastest of their five strategies", STEPS),
                              ("automatic", ("automatic",))):
        found = make(strategies)
        if found:
            return whose, found
    return None, {}


def fastest(rows, what):
    """{(tensor, row[what]): the fastest row}, where all strategies were measured."""
    found, measured = {}, {}
    for row in rows:
        case = (row["tensor"], row[what])
        measured.setdefault(case, set()).add(row["strategy"])
        if case not in found or row["median"] < found[case]["median"]:
            found[case] = row
    return kernels.of_all(found, measured)


def modes(rows, scalar, rank, strategies):
    """Figure 8: {family: {mode: (standard deviation of the fibers' lengths, time over that of mode
    0)}} by the fastest of the strategies; tensors whose mode 0 was not measured are left out."""
    found = fastest([
        row for row in rows if row["kernel"] == "spttm" and row["strategy"] in strategies
        and row["scalar"] == scalar and row["rank"] == rank and isinstance(row["mode"], int)
        and row["rounds"] and "fiber_deviation" in row.get("counters", {})], "mode")
    found = kernels.of_largest(list(found.values()))
    by_tensor = {}
    for row in found:
        by_tensor.setdefault(row["tensor"], {})[row["mode"]] = row
    return {names.family(tensor): {
        mode: (row["counters"]["fiber_deviation"], row["median"] / own[0]["median"])
        for mode, row in sorted(own.items())} for tensor, own in by_tensor.items() if 0 in own}


def agreeing(found):
    """Of the pairs of modes of one tensor whose deviations differ: in how many the mode with the
    larger one takes longer, and how many there are. found: of modes."""
    pairs = [(one, other) for own in found.values() for one in own.values() for other in own.values()
             if one[0] > other[0]]
    return sum(one[1] > other[1] for one, other in pairs), len(pairs)


def by_rank(rows, scalar, strategies, mode):
    """Figure 9: {family: {rank: flops a second by Equation 3}} by the fastest of the strategies, of
    tensors with three ranks or more; of several sizes of a look-alike the one with most ranks."""
    by_tensor, found = {}, {}
    for (tensor, rank), row in fastest([
            row for row in _counted(rows) if row["strategy"] in strategies and row["mode"] == mode
            and row["scalar"] == scalar and row["rounds"]], "rank").items():
        by_tensor.setdefault(tensor, {})[rank] = equation_3(row) / row["median"]
    for tensor, speeds in by_tensor.items():
        family = names.family(tensor)
        if len(speeds) > max(2, len(found.get(family, {}))):
            found[family] = dict(sorted(speeds.items()))
    return found


def hooi(machine, scalar):
    """Table 6: {(tensor, nonzeros): row} of an iteration of HOOI."""
    return {(row["tensor"], row.get("nnz")): row for row in machine.timed()
            if row["kernel"] == "tucker" and row["scalar"] == scalar}


def share_of_chains(row):
    """The share of TTM chains in the time of a row of HOOI; None where its kernels are not timed."""
    parts = kernels.parts_of_time(row)
    whole = sum(parts.values())
    return sum(value for name, value in parts.items() if name.startswith("ttm_chain")) / whole \
        if whole else None
