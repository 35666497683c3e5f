# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changed against an older result."""
from bench import kernels, report_data
from bench.pictures import style


def draw(data, old_machines):
    """A picture for each machine that both have."""
    old = {machine.name: machine for machine in old_machines}
    found = [_draw(data, old[machine.name], machine) for machine in data.machines
             if machine.name in old]
    return [picture for picture in found if picture]


def _draw(data, old, new):
    changes, only_old, only_new = report_data.changes(old, new)
    by_kernel = {}
    for change in changes:
        by_kernel.setdefault(change.new["kernel"], []).append(change)
    if not by_kernel:
        return None
    made, axes = style.figure(0.9 + 0.24 * len(by_kernel))
    axis = axes[0][0]
    for at, (kernel, found) in enumerate(by_kernel.items()):
        band = sorted(change.band for change in found)[len(found) // 2]
        axis.barh([at], [1 + band - 1 / (1 + band)], 0.7, left=1 / (1 + band), color=style.GRID)
        for number, change in enumerate(found):
            place = at + (number % 7 - 3) * 0.09  # so that they do not hide each other
            if change.is_beyond_noise():
                axis.plot([change.ratio], [place], "x", color=style.INK, markersize=4,
                          markeredgewidth=0.9)
            else:
                axis.plot([change.ratio], [place], "|", color=style.INK, markersize=3,
                          markeredgewidth=0.6)
        mean = report_data.mean_ratio(found)
        axis.plot([mean], [at], "D", color=style.COLOURS[1], markeredgecolor=style.INK, markersize=5.5,
                  markeredgewidth=0.7, zorder=5)
        axis.annotate("%.2f" % mean, (1, at), xycoords=("axes fraction", "data"), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=7.5)
    ratios = [change.ratio for change in changes]
    low, high = min(0.8, min(ratios) * 0.95), max(1.25, max(ratios) * 1.05)
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    ticks = [tick for tick in (0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10) if low <= tick <= high]
    axis.set_xticks(ticks, [style.number(tick) for tick in ticks])
    axis.minorticks_off()
    axis.axvline(1, color=style.INK, linewidth=0.9, linestyle="--")
    axis.set_yticks(range(len(by_kernel)), [kernels.title(kernel) for kernel in by_kernel])
    axis.set_ylim(len(by_kernel) - 0.5, -0.5)
    axis.set_xlabel("new time / old time")
    axis.grid(axis="x")
    notes = ["Old: %s of %s; new: %s of %s. %d rows only in the old, %d only in the new." % (
        old.latest["software"].get("git"), old.latest["date"][:10],
        new.latest["software"].get("git"), new.latest["date"][:10], only_old, only_new)]
    return style.Picture(
        "changes-%d" % data.machines.index(new), "Against the older result%s" % data.of(new),
        "New time over old, a mark a row: right of the dashed line is slower; strokes are rows within "
        "their noise band, crosses are beyond it, diamonds and numbers are means, grey is the usual band.",
        made, notes)
