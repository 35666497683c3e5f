# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flops a second by flops a byte, under what memory allows."""
from bench import kernels
from bench.pictures import style


def _draw(data, machine):
    rows = machine.timed()
    triad, peak = kernels.triad(rows, data.scalar), data.peaks[machine.name]
    points = []
    for kernel, title, _ in kernels.KERNELS:
        found = [whole for whole in kernels.wholes(rows, kernel, data.scalar, data.rank).values()
                 if whole.flops and whole.bytes]
        if found:
            points.append((title, [(whole.flops / whole.bytes, whole.flops / whole.seconds)
                                   for whole in found]))
    if not points or not triad:
        return None
    made, axes = style.figure(3.7)
    axis = axes[0][0]
    every = [point for _, found in points for point in found]
    low, high = min(x for x, _ in every) / 2, max(x for x, _ in every) * 2.5
    top = min(high * max(triad, peak.bandwidth or 0), 2 * peak.flops.get(data.scalar, float("inf")))
    bottom = min(y for _, y in every) / 3
    notes = []
    for bandwidth, line, name in ((triad, "-", "Solid: the measured triad"),
                                  (peak.bandwidth, "--", "Dashed: the vendor's peak")):
        if not bandwidth:
            continue
        notes.append("%s, %s GB/s." % (name, style.number(bandwidth / 1e9)))
        roof = min(peak.flops.get(data.scalar, float("inf")), bandwidth * high)
        axis.plot([low, roof / bandwidth, high], [bandwidth * low, roof, roof], line,
                  color=style.INK, linewidth=1.1)
    for at, (title, found) in enumerate(points):
        axis.plot(*zip(*found), linestyle="none", marker=style.marker(at), color=style.colour(at),
                  markersize=6, markeredgecolor=style.INK, markeredgewidth=0.5, label=title)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(low, high)
    axis.set_ylim(bottom, top * 1.3)
    axis.set_xlabel("flops a byte that must move")
    axis.set_ylabel("Gflop/s")
    axis.xaxis.set_major_formatter(lambda value, _: style.number(value))
    axis.yaxis.set_major_formatter(lambda value, _: style.number(value / 1e9))
    axis.grid(True)
    style.legend(axis, 3)
    return style.Picture(
        "roofline-%d" % data.machines.index(machine),
        "Roofline (%s)%s" % (data.settings(), data.of(machine)),
        "Each mark is a kernel on one tensor: the closer to the solid line, the more of the memory's "
        "bandwidth it uses; above it, caches serve.", made, notes)


def draw(data):
    return [picture for picture in (_draw(data, machine) for machine in data.machines) if picture]
