# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time by strategy and mode, and what the selector chose."""
import math
import re

from matplotlib.patches import Rectangle

from bench import kernels, names
from bench.pictures import style

SHOWN = ("mttkrp", "phi", "spttm", "sptv", "ttm_chain")
DARKEST = 4.0  # times as long as the fastest


def table(rows, kernel, scalar, rank):
    """Strategies, automatic first, and {(family of tensors, mode): {strategy: row}}."""
    found = {}
    for row in kernels.of_largest([
            row for row in rows if row["kernel"] == kernel and not row["native"]
            and isinstance(row["mode"], int) and row["scalar"] == scalar
            and row["strategy"] and "stored" not in row["strategy"]
            and (kernel == "ttm_chain" or row["rank"] in (None, rank))]):
        found.setdefault((names.family(row["tensor"]), row["mode"]), {})[row["strategy"]] = row
    strategies = dict.fromkeys(strategy for cell in found.values() for strategy in cell)
    return sorted(strategies, key=lambda name: name != "automatic"), found


def chosen(cell):
    """The strategy that automatic chose, as the benchmark's label says; None where unknown."""
    label = cell.get("automatic", {}).get("label", "")
    name = "morton" if "along a curve" in label else re.split("[ :,]", label)[0]
    return name if name in cell and name != "automatic" else None


def _draw(data, machine, kernel):
    strategies, found = table(machine.timed(), kernel, data.scalar, data.rank)
    if len(strategies) < 2:
        return None
    made, axes = style.figure(1.0 + 0.19 * len(found) + 0.35)
    axis = axes[0][0]
    has_choice = False
    for at, ((family, mode), cell) in enumerate(found.items()):
        best = min(row["median"] for row in cell.values())
        for column, strategy in enumerate(strategies):
            row = cell.get(strategy)
            ratio = row["median"] / best if row else None
            shade = min(1.0, math.log(ratio) / math.log(DARKEST)) if row else 0
            axis.add_patch(Rectangle((column - 0.5, at - 0.5), 1, 1, linewidth=0.4, edgecolor="white",
                                     facecolor=str(1 - 0.7 * shade) if row else "white"))
            text = "–" if not row else "%.2f" % ratio if ratio < 9.995 else "%.0f" % ratio
            axis.text(column, at, text, ha="center", va="center", fontsize=7,
                      color="white" if shade > 0.7 else style.INK,
                      fontweight="bold" if ratio == 1 else "normal")
        choice = chosen(cell)
        if choice in strategies:
            has_choice = True
            axis.add_patch(Rectangle((strategies.index(choice) - 0.46, at - 0.42), 0.92, 0.84,
                                     fill=False, edgecolor=style.INK, linewidth=1.2))
        if at and mode == 0:
            axis.axhline(at - 0.5, color=style.FAINT, linewidth=0.7)
    if strategies[0] == "automatic":
        axis.axvline(0.5, color=style.FAINT, linewidth=0.7)
    axis.set_xlim(-0.5, len(strategies) - 0.5)
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_xticks(range(len(strategies)), strategies, rotation=35, ha="left", rotation_mode="anchor")
    axis.xaxis.tick_top()
    axis.set_yticks(range(len(found)), ["%s, mode %d" % (data.tensor_names(family), mode)
                                        for family, mode in found])
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    notes = []
    if "automatic" not in strategies:
        notes.append("There is no benchmark of automatic for this kernel.")
    elif has_choice:
        notes.append("A frame marks what automatic chose.")
    settings = data.scalar + ("" if kernel in ("sptv", "ttm_chain") else ", R = %s" % data.rank)
    return style.Picture(
        "strategies-%s-%d" % (kernel, data.machines.index(machine)),
        "%s by strategy and mode (%s)%s" % (kernels.title(kernel), settings, data.of(machine)),
        "How many times as long as the fastest strategy each takes, a row for each tensor and mode: "
        "1.00 is the fastest, darker is slower, – is refused or not measured.", made, notes,
        data.tensor_names.key())


def draw(data):
    found = [_draw(data, machine, kernel) for kernel in SHOWN for machine in data.machines]
    return [picture for picture in found if picture]
