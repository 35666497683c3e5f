# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed over plain loops without Kokkos: Anderson & Choi's figures 4, 6, 10 and 11."""
from bench import kernels, names, report_data
from bench.pictures import style


def _panels(data, kernel_names):
    """{panel: {label: [(machine number, speed, noise)]}}: all modes together where they were
    measured so."""
    panels = {}
    for at, machine in enumerate(data.machines):
        found = [one for one in report_data.twins(machine.timed()) if one[0]["kernel"] in kernel_names
                 and (not one[0]["tensor"] or (one[0]["rank"], one[0]["scalar"]) == (
                     data.rank, data.scalar))]
        shown = {native["tensor"] for native in kernels.of_largest([one[0] for one in found])}
        whole = {(one[0]["kernel"], one[0]["tensor"]) for one in found if one[0]["mode"] == "all"}
        for native, strategy, _, speed, noise in found:
            if native["tensor"] not in shown or (
                    native["mode"] != "all" and (native["kernel"], native["tensor"]) in whole):
                continue
            if native["tensor"]:
                panel = "%s, over the native %s" % (strategy, native["strategy"])
                label = data.tensor_names(names.family(native["tensor"]))
                if isinstance(native["mode"], int):
                    label += ", mode %d" % native["mode"]
            else:
                panel = ""
                label = native["kernel"].replace("stream_", "") + ", " + native["scalar"]
            panels.setdefault(panel, {}).setdefault(label, []).append((at, speed, noise))
    return panels


def _fill(data, axis, groups, labelled):
    count = len(data.machines)
    for row, points in enumerate(groups.values()):
        for at, speed, noise in points:
            place = row + 0.5 / max(1, count - 1) * (at - (count - 1) / 2)
            label = None if at in labelled else data.machine_names(data.machines[at].name)
            labelled.add(at)
            axis.errorbar([speed], [place], xerr=[[speed * noise / (1 + noise)], [speed * noise]],
                          marker=style.marker(at), color=style.colour(at), markersize=5.5,
                          markeredgecolor=style.INK, markeredgewidth=0.5, capsize=2, linewidth=1,
                          linestyle="none", label=label)
            style.beside(axis, "%.2f" % speed, speed * (1 + noise), place)
    axis.axvline(1, color=style.INK, linewidth=0.9, linestyle="--", zorder=0)
    axis.set_yticks(range(len(groups)), list(groups))
    axis.set_ylim(len(groups) - 0.4, -0.6)
    axis.grid(axis="x")


def over_native(data, kernel_names, name, title):
    panels = _panels(data, kernel_names)
    if not panels:
        return None
    sizes = [len(groups) for groups in panels.values()]
    height = (0.14 + 0.11 * len(data.machines)) * sum(sizes) + 0.35 * len(sizes)
    made, axes = style.figure(0.5 + height + 0.18 * len(data.machines), len(panels), sharex=True,
                              gridspec_kw={"height_ratios": sizes})
    labelled = set()
    for at, (panel, groups) in enumerate(panels.items()):
        _fill(data, axes[at][0], groups, labelled)
        if panel:
            axes[at][0].set_title(panel, pad=4)
    points = [point for groups in panels.values() for ones in groups.values() for point in ones]
    low = min(0.8, 0.85 * min(speed / (1 + noise) for _, speed, noise in points))
    high = max(1.25, 1.35 * max(speed * (1 + noise) for _, speed, noise in points))
    last = axes[-1][0]
    last.set_xlim(low, high)
    if high / low > 4:
        last.set_xscale("log")
        ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= tick <= high]
        last.set_xticks(ticks, [style.number(tick) for tick in ticks])
        last.minorticks_off()
    last.set_xlabel("times as fast as the loop without Kokkos")
    if len(data.machines) > 1:
        style.legend(axes[0][0], lift=13 if "" not in panels else 0)
    return style.Picture(
        name, title, "How many times as fast as the same work without Kokkos, in plain OpenMP or "
        "CUDA: right of the dashed line Sporades is faster; whiskers are the noise band.", made,
        [], data.machine_names.key() + data.tensor_names.key())


def draw(data):
    settings = "(%s, R = %s)" % (data.scalar, data.rank)
    found = [over_native(data, kernels.STREAM, "native-stream",
                         "STREAM over the same loops without Kokkos")]
    for kernel in ("mttkrp", "phi"):
        found.append(over_native(data, (kernel,), "native-" + kernel,
                                 "%s over loops without Kokkos %s" % (kernels.title(kernel), settings)))
    return [picture for picture in found if picture]
