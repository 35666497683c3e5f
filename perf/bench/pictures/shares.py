# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the time of CP-APR goes into: Anderson & Choi's figure 2."""
from bench import cp_apr
from bench.pictures import style


def _fill(axis, bars):
    """bars: [(label, {part: share})]."""
    ends = [0.0] * len(bars)
    for at, part in enumerate(cp_apr.PARTS):
        values = [found[part] for _, found in bars]
        axis.barh(range(len(bars)), values, 0.7, left=ends, color=style.colour(at),
                  hatch=style.hatch(at), edgecolor=style.INK, linewidth=0.5, label=part)
        for place, value in enumerate(values):
            if value >= 0.09:
                axis.text(ends[place] + value / 2, place, "%.0f %%" % (100 * value), ha="center",
                          va="center", fontsize=7.5,
                          bbox={"facecolor": "white", "linewidth": 0, "pad": 0.8})
        ends = [end + value for end, value in zip(ends, values)]
    axis.set_yticks(range(len(bars)), [label for label, _ in bars])
    axis.set_ylim(len(bars) - 0.5, -0.5)
    axis.set_xlim(0, 1)
    axis.xaxis.set_major_formatter(lambda value, _: "%.0f %%" % (100 * value))


def _label(name, is_stored, is_below):
    """A bar below one of the same tensor only says how it differs."""
    return "Π stored" if is_below else name + ", Π stored" * is_stored


def draw(data):
    panels = []
    for machine in data.machines:
        found = cp_apr.shares(machine, data.scalar, data.rank)
        bars = [(_label(data.tensor_names(family), is_stored, at and found[at - 1][0] == family), shares)
                for at, (family, is_stored, shares) in enumerate(found)]
        if bars:
            panels.append((machine, bars))
    if not panels:
        return []
    sizes = [len(bars) for _, bars in panels]
    made, axes = style.figure(0.8 + 0.26 * sum(sizes) + 0.3 * len(panels), len(panels), sharex=True,
                              gridspec_kw={"height_ratios": sizes})
    for at, (machine, bars) in enumerate(panels):
        _fill(axes[at][0], bars)
        if len(data.machines) > 1:
            axes[at][0].set_title(data.machine_names(machine.name), pad=4)
    style.legend(axes[0][0], 3, 13 if len(data.machines) > 1 else 0, columnspacing=1.2)
    return [style.Picture(
        "cp-apr-shares", "What CP-APR's time goes into (mu, %s, R = %s)" % (data.scalar, data.rank),
        "An outer iteration by its kernels, as in figure 2 of Anderson & Choi (2021): the wider a "
        "part, the more of the time it takes.", made,
        ["Where Π is not stored, Φ computes it on the fly. Other: likelihood, norms and weights."],
        data.machine_names.key() + data.tensor_names.key())]
