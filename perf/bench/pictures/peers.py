# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Φ beside loops without Kokkos and beside other libraries: what Anderson & Choi's figures 7 to 11
compare, as efficiencies."""
from bench import kernels, peers
from bench.pictures import style

BETWEEN = 1.0  # between two tensors, in distances of dots


def _draw(data, name, title, reading, values, whole, notes=()):
    """values: {label: {family: (share, noise)}}; whole: what the dashed line is."""
    values = {label: shares for label, shares in values.items() if shares}
    families = list(dict.fromkeys(family for shares in values.values() for family in shares))
    if not families:
        return None
    pitch = len(values) + BETWEEN
    made, axes = style.figure(0.75 + 0.13 * (pitch * len(families) + len(values)))
    axis = axes[0][0]
    spans = [(share / (1 + noise), share * (1 + noise))
             for shares in values.values() for share, noise in shares.values()]
    low, high = min(0.8, min(spans)[0] * 0.85), max(1.3, 1.3 * max(end for _, end in spans))
    for at, (label, shares) in enumerate(values.items()):
        places = [pitch * families.index(family) + at for family in shares]
        axis.errorbar([share for share, _ in shares.values()], places,
                      xerr=list(zip(*((share * noise / (1 + noise), share * noise)
                                      for share, noise in shares.values()))),
                      marker=style.marker(at), color=style.colour(at), markersize=5,
                      markeredgecolor=style.INK, markeredgewidth=0.5, capsize=2, linewidth=1,
                      linestyle="none", label=label)
        for (share, noise), place in zip(shares.values(), places):
            style.beside(axis, style.percent(share), share * (1 + noise), place)
    axis.axvline(1, color=style.INK, linewidth=0.9, linestyle="--", zorder=0)
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    ticks = [tick for tick in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)
             if low <= tick <= high]
    axis.set_xticks(ticks, [style.percent(tick) for tick in ticks])
    axis.minorticks_off()
    axis.set_yticks([pitch * at + (len(values) - 1) / 2 for at in range(len(families))],
                    [data.tensor_names(family) for family in families])
    axis.set_ylim(pitch * len(families) - BETWEEN / 2 - 0.4, -0.8)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x")
    axis.set_xlabel("of " + whole)
    style.legend(axis)
    return style.Picture(name, title, reading, made, list(notes), data.tensor_names.key())


def draw(data):
    drawn = []
    for at, machine in enumerate(data.machines):
        found = peers.implementations(machine, "phi", data.scalar, data.rank)
        settings = "(%s, R = %s)%s" % (data.scalar, data.rank, data.of(machine))
        notes = ["Of SparTen, stored_pi reads a Π that it computed before, which is not counted; "
                 "reduced_footprint computes it on the fly, as Anderson & Choi (2021) changed it."]
        notes *= any(peer == "SparTen" for _, _, peer, _ in found)
        drawn.append(_draw(
            data, "phi-performance-%d" % at, "Performance efficiency of Φ " + settings,
            "How many times as fast as the fastest loop without Kokkos each implementation is, all "
            "modes together: the dashed line is that loop, and whiskers are the noise band.",
            peers.performance(found), "the fastest loop without Kokkos", notes))
        peak = data.peaks[machine.name].bandwidth
        roof = peak or kernels.triad(machine.timed(), data.scalar)
        if roof:
            whole = "the vendor's bandwidth" if peak else "the measured triad's bandwidth"
            drawn.append(_draw(
                data, "phi-architecture-%d" % at, "Architectural efficiency of Φ " + settings,
                "How much of %s the bytes reach that each implementation must move at least, in the "
                "format that it holds: the dashed line is all of it." % whole,
                peers.architectural(found, roof), whole, notes + [
                    "What fits the last-level cache may pass 100 %."]))
    return [picture for picture in drawn if picture]
