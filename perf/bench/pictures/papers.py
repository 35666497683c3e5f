# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of bench/exhibits: bars and lines, and those of other pages that papers have, too."""
from bench.pictures import shares, spttm, style, twins  # noqa: F401


def bars(data, name, title, reading, series, axis_label, base=None, notes=()):
    """Bars of each tensor. series: {label: {family: number}}; base: where a dashed line stands. None
    where there are no numbers."""
    families = list(dict.fromkeys(family for values in series.values() for family in values))
    if not families:
        return None
    made, axes = style.figure(style.height_of_bars(len(families), len(series)))
    axis = axes[0][0]
    most = style.grouped_bars(axis, [data.tensor_names(family) for family in families], [
        (label, [(values.get(family), []) for family in families]) for label, values in series.items()],
                              lambda value: "–" if value is None else style.number(value))
    least = min(value for values in series.values() for value in values.values())
    if base is not None:
        axis.axvline(base, color=style.INK, linewidth=0.9, linestyle="--")
    right, left = max(most, base or 0), min(0, least)
    axis.set_xlim(left - 0.2 * (right - left) if left else 0, right + 0.15 * (right - left) or 1)
    axis.set_xlabel(axis_label)
    return style.Picture(name, title, reading, made, list(notes),
                         data.machine_names.key() + data.tensor_names.key())


def lines(data, name, title, reading, series, axis_labels, notes=()):
    """A line of marks for each label. series: {label: {x: number}}; None where no label has two."""
    series = {label: points for label, points in series.items() if len(points) > 1}
    if not series:
        return None
    made, axes = style.figure(3.0 + 0.16 * len(series))
    axis = axes[0][0]
    for at, (label, points) in enumerate(series.items()):
        axis.plot(*zip(*sorted(points.items())), marker=style.marker(at), color=style.colour(at),
                  markersize=5.5, markeredgecolor=style.INK, markeredgewidth=0.5, label=label)
    ticks = sorted({x for points in series.values() for x in points})
    axis.set_xscale("log", base=2)
    axis.set_xticks(ticks, ["%g" % tick for tick in ticks])
    axis.minorticks_off()
    axis.set_ylim(0, 1.08 * max(y for points in series.values() for y in points.values()))
    axis.set_xlabel(axis_labels[0])
    axis.set_ylabel(axis_labels[1])
    axis.grid(True)
    style.legend(axis, 2)
    return style.Picture(name, title, reading, made, list(notes), data.tensor_names.key())
