# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The share of the memory's bandwidth that each kernel reaches: Anderson & Choi's figures 3 and 5."""
from bench import kernels
from bench.pictures import style

IN_CACHE = ("Bytes are those that must move at least: nonzeros as they are stored, used rows of "
            "factors, and the product, once each. Where they fit the last-level cache (hollow dots) "
            "a kernel may pass 100 %.")


def _draw_shares(data, roofs, name, title, reading, notes):
    """roofs: {machine's name: bytes/s}."""
    machines = [machine for machine in data.machines if roofs.get(machine.name)]
    shown = []
    for kernel, kernel_title, _ in kernels.KERNELS:
        found = [kernels.efficiency(machine.timed(), kernel, data.scalar, data.rank,
                                    roofs[machine.name]) for machine in machines]
        if any(mean for mean, _ in found):
            shown.append((kernel, kernel_title, found))
    if not shown:
        return None
    made, axes = style.figure(style.height_of_bars(len(shown), len(machines)))
    axis = axes[0][0]
    series = []
    for at, machine in enumerate(machines):
        cache = data.peaks[machine.name].cache or 0
        entries = [(mean, [(share, whole.bytes_of_one < cache) for share, whole in shares
                           if whole.tensor])
                   for mean, shares in (found[at] for _, _, found in shown)]
        series.append((data.machine_names(machine.name), entries))
    if len(machines) < len(data.machines) and len(machines) == 1:
        title += ", " + machines[0].name  # as one series has no legend
    most = style.grouped_bars(axis, [kernel_title for _, kernel_title, _ in shown], series,
                              lambda mean: style.percent(mean) if mean else "not measured")
    axis.axvline(1, color=style.INK, linewidth=0.9, linestyle="--")
    axis.set_xlim(0, max(1.05, most) * 1.14)
    axis.xaxis.set_major_formatter(lambda value, _: "%.0f %%" % (100 * value))
    return style.Picture(name, title, reading, made, notes, data.machine_names.key())


def draw(data):
    triads = {machine.name: kernels.triad(machine.timed(), data.scalar) for machine in data.machines}
    peaks = {machine.name: data.peaks[machine.name].bandwidth for machine in data.machines}
    settings = data.settings()
    dots = ("a bar is the geometric mean over the tensors, a dot one tensor, and the dashed line "
            "all of it.")
    found = [_draw_shares(
        data, triads, "bandwidth-triad", "Share of the measured triad's bandwidth (%s)" % settings,
        "How much of what STREAM's triad reaches on the machine each kernel's bytes reach: " + dots,
        [IN_CACHE])]
    unknown = ["No vendor's bandwidth is known for %s: --peak gives it." % machine.name
               for machine in data.machines if not peaks[machine.name]]
    sockets = ["Vendors' figures for processors are those of whole sockets."]
    if len(unknown) < len(data.machines):
        has_hosts = any(peaks[machine.name] and not machine.gpu for machine in data.machines)
        found.append(_draw_shares(
            data, peaks, "bandwidth-peak", "Share of the vendor's peak bandwidth (%s)" % settings,
            "The same of the bandwidth that the vendor states, which is the efficiency of Anderson & "
            "Choi (2021): " + dots, [IN_CACHE] + sockets * has_hosts + unknown))
    elif found[0]:
        found[0].notes += unknown
    return [picture for picture in found if picture]


def gather(data):
    """Bandwidth of gathered rows by the size of the matrix."""
    series = []
    for at, machine in enumerate(data.machines):
        points = kernels.gather_rates([row for row in machine.timed() if row["rank"] == data.rank],
                                      data.scalar, data.rank)
        if points:
            series.append((at, machine, points))
    if not series:
        return []
    made, axes = style.figure(2.9)
    axis = axes[0][0]
    for at, machine, points in series:
        axis.plot(*zip(*points), marker=style.marker(at), color=style.colour(at), markersize=5,
                  label=data.machine_names(machine.name))
        triad = kernels.triad(machine.timed(), data.scalar)
        if triad:
            axis.axhline(triad, color=style.colour(at), linestyle=":", linewidth=1.2)
            axis.text(points[0][0], triad, "triad %s GB/s" % style.number(triad / 1e9), fontsize=7.5,
                      va="bottom")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("size of the matrix")
    axis.set_ylabel("GB/s gathered")
    axis.xaxis.set_major_formatter(lambda value, _: "%g KB" % (value / 1024) if value < 1 << 20
                                   else "%g MB" % (value / (1 << 20)))
    axis.yaxis.set_major_formatter(lambda value, _: style.number(value / 1e9))
    axis.yaxis.set_minor_formatter(lambda value, _: "")
    axis.grid(True)
    if len(series) > 1:
        style.legend(axis)
    return [style.Picture(
        "gather", "Rows gathered at random (%s, R = %s)" % (data.scalar, data.rank),
        "What caches give to kernels that read a factor row a nonzero: each step down is the end of "
        "a cache, and the dotted line is what memory gives in order.", made, [],
        data.machine_names.key())]
