# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SpTTM: figures 5 to 9 of Ma, Li, Wu, Yan, Sun & Vuduc (JPDC 2018)."""
from bench import noise, spttm
from bench.pictures import style

EQUATION = "Flops are those of their equation 3: 2 nnz R for each product."


def figure_5(data, machine):
    found = spttm.speeds(machine.timed(), data.scalar, data.rank)
    if not found:
        return None
    made, axes = style.figure(style.height_of_bars(len(found), 2))
    axis = axes[0][0]
    most = style.grouped_bars(axis, [data.tensor_names(family) for family in found], [
        (name, [(one[at] / 1e9 if one[at] else None, []) for one in found.values()])
        for name, at in (("automatic", 0), ("the fastest of their five strategies", 1))],
                              lambda value: style.number(value) if value else "not measured")
    axis.set_xlim(0, most * 1.15)
    axis.set_xlabel("Gflop/s")
    return style.Picture(
        "spttm-speed-%d" % data.machines.index(machine),
        "Speed of SpTTM (%s, R = %s)%s" % (data.scalar, data.rank, data.of(machine)),
        "Flops a second over all modes of a tensor, as in figure 5 of Ma and others (2018): longer is "
        "faster, and the second bar is what the best of their strategies reaches here.", made,
        [EQUATION], data.tensor_names.key())


def figure_6(data, machine):
    rows = machine.timed()
    by_rank = {rank: spttm.over_naive(rows, data.scalar, rank)
               for rank in spttm.ranks_of_steps(rows, data.scalar)}
    if not by_rank:
        return None
    strategies = [one for one in spttm.STEPS + spttm.OWN
                  if any(one in over for over in by_rank.values())]
    made, axes = style.figure(style.height_of_bars(len(strategies), len(by_rank)))
    axis = axes[0][0]
    most = style.grouped_bars(axis, strategies, [
        ("R = %d" % rank, [(noise.geometric_mean(over.get(strategy, {}).values()),
                            [(ratio, False) for ratio in over.get(strategy, {}).values()])
                           for strategy in strategies]) for rank, over in by_rank.items()],
                              lambda value: "%.2f" % value if value else "not measured")
    axis.axvline(1, color=style.INK, linewidth=0.9, linestyle="--")
    axis.set_xlim(0, most * 1.15)
    axis.set_xlabel("time / time of naive")
    return style.Picture(
        "spttm-steps-%d" % data.machines.index(machine),
        "What each strategy of SpTTM adds (%s)%s" % (data.scalar, data.of(machine)),
        "Time over that of naive, all modes together, as in figure 6 of Ma and others (2018), whose "
        "strategies come first and add one idea each: a bar is the geometric mean over the tensors, a "
        "dot one tensor, and shorter is faster.", made,
        ["Threads of a block and of a row are tuned for fine_grained, coalesced, rank_blocked and "
         "scratch; lanes is the library's own, and automatic chooses between lanes and SpMM."])


def figure_7(data):
    """Of all machines."""
    families, series = [], []
    for machine in data.machines:
        found = spttm.semi_sparse(machine.timed(), data.scalar, data.rank)
        families += [family for family in found if family not in families]
        series.append((data.machine_names(machine.name), found))
    if not families:
        return None
    made, axes = style.figure(style.height_of_bars(len(families), len(series)))
    axis = axes[0][0]
    most = style.grouped_bars(axis, [data.tensor_names(family) for family in families], [
        (name, [(found.get(family), []) for family in families]) for name, found in series],
                              lambda value: "%.2f" % value if value else "not measured")
    axis.axvline(1, color=style.INK, linewidth=0.9, linestyle="--")
    axis.set_xlim(0, most * 1.15)
    axis.set_xlabel("times as fast")
    return style.Picture(
        "sspttm", "SspTTM over SpTTM on the same tensor (%s, R = %s)" % (data.scalar, data.rank),
        "How many times as fast a product is that knows the tensor's dense mode, as in figure 7 of "
        "Ma and others (2018): right of the dashed line knowing it pays.", made,
        ["As in the second step of a TTM chain, the tensor is a product of SpTTM; SpTTM takes all its "
         "entries as nonzeros."], data.machine_names.key() + data.tensor_names.key())


def figure_8(data, machine):
    whose, found = spttm.by_best(
        lambda strategies: spttm.modes(machine.timed(), data.scalar, data.rank, strategies))
    if not found:
        return None
    made, axes = style.figure(3.0)
    axis = axes[0][0]
    for at, (family, own) in enumerate(found.items()):
        axis.plot(*zip(*own.values()), linestyle="none", marker=style.marker(at),
                  color=style.colour(at), markersize=6, markeredgecolor=style.INK,
                  markeredgewidth=0.5, label=data.tensor_names(family))
        for mode, (deviation, ratio) in own.items():
            axis.annotate(str(mode + 1), (deviation, ratio), xytext=(5, 3), textcoords="offset points",
                          fontsize=7)
    axis.axhline(1, color=style.INK, linewidth=0.9, linestyle="--")
    marks = [mark for own in found.values() for mark in own.values()]
    axis.set_xscale("symlog", linthresh=1)
    axis.set_xlim(-0.05, 2 * max(1, *(deviation for deviation, _ in marks)))
    axis.xaxis.set_major_formatter(lambda value, _: style.number(value))
    axis.set_ylim(0, 1.15 * max(ratio for _, ratio in marks))
    axis.set_xlabel("standard deviation of the fibers' lengths, nonzeros")
    axis.set_ylabel("time / time of mode 1")
    axis.grid(True)
    style.legend(axis, 3)
    agree, pairs = spttm.agreeing(found)
    notes = ["In %d of %d pairs of modes of a tensor, the one with the larger deviation takes longer."
             % (agree, pairs)] if pairs else []
    return style.Picture(
        "spttm-modes-%d" % data.machines.index(machine),
        "SpTTM of each mode by how uneven its fibers are (%s, R = %s), by %s%s"
        % (data.scalar, data.rank, whose, data.of(machine)),
        "Each mark is a mode of a tensor, with its number from 1, as in figure 8 of Ma and others (2018): "
        "marks of a tensor that rise to the right mean that uneven fibers cost time.", made, notes,
        data.tensor_names.key())


def figure_9(data, machine):
    whose, found = spttm.by_best(lambda strategies: spttm.by_rank(
        machine.timed(), data.scalar, strategies, 0 if strategies == spttm.STEPS else "all"))
    if not found:
        return None
    of_modes = "all modes" if whose == "automatic" else "mode 1"
    made, axes = style.figure(3.0)
    axis = axes[0][0]
    for at, (family, speeds) in enumerate(found.items()):
        axis.plot(list(speeds), [speed / 1e9 for speed in speeds.values()], marker=style.marker(at),
                  color=style.colour(at), markersize=5.5, markeredgecolor=style.INK,
                  markeredgewidth=0.5, label=data.tensor_names(family))
    ranks = sorted({rank for speeds in found.values() for rank in speeds})
    axis.set_xticks(ranks)
    axis.set_ylim(0, 1.08e-9 * max(max(speeds.values()) for speeds in found.values()))
    axis.set_xlabel("components R")
    axis.set_ylabel("Gflop/s")
    axis.grid(True)
    style.legend(axis, 3)
    return style.Picture(
        "spttm-ranks-%d" % data.machines.index(machine),
        "Speed of SpTTM by the number of components (%s), by %s%s" % (
            data.scalar, whose, data.of(machine)),
        "Flops a second over %s for R from %d to %d, as in figure 9 of Ma and others (2018): where a "
        "line is level, time grows as R does." % (of_modes, ranks[0], ranks[-1]), made, [EQUATION],
        data.tensor_names.key())


def draw(data):
    found = [figure(data, machine) for figure in (figure_5, figure_6) for machine in data.machines]
    found.append(figure_7(data))
    found += [figure(data, machine) for figure in (figure_8, figure_9) for machine in data.machines]
    return [picture for picture in found if picture]
