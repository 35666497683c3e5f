# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Performance portability over the machines, after Pennycook, Sewall & Lee (2016)."""
from bench import kernels, noise
from bench.pictures import style


def by_kernel(data, roofs):
    """[(title, portability, [names of machines without the kernel])]; roofs: {machine: bytes/s}."""
    found = []
    for kernel, title, _ in kernels.KERNELS:
        means = [kernels.efficiency(machine.timed(), kernel, data.scalar, data.rank,
                                    roofs[machine.name])[0] for machine in data.machines]
        if any(means):
            found.append((title, kernels.portability(means), [
                machine.name for machine, mean in zip(data.machines, means) if not mean]))
    return found


def roofs_of(data):
    """[(words, {machine: bytes/s})] of those that are known for all machines."""
    triads = {machine.name: kernels.triad(machine.timed(), data.scalar) for machine in data.machines}
    peaks = {machine.name: data.peaks[machine.name].bandwidth for machine in data.machines}
    return [(words, roofs) for words, roofs in (("of the measured triad", triads),
                                                ("of the vendor's peak", peaks))
            if all(roofs.values())]


def of_bounds(data, triads):
    """As by_kernel, of the share of the measured time that the bound is."""
    found = []
    for kernel, title, _ in kernels.KERNELS:
        shares = [[share for _, _, share in kernels.bounds(
            machine.timed(), kernel, data.scalar, data.rank, triads[machine.name])]
                  for machine in data.machines]
        if any(shares):
            found.append((title, kernels.portability([noise.geometric_mean(one) for one in shares]),
                          [machine.name for machine, one in zip(data.machines, shares) if not one]))
    return found


def draw(data):
    roofs = roofs_of(data)
    found = [(words, by_kernel(data, one)) for words, one in roofs]
    if roofs and roofs[0][0] == "of the measured triad":
        found.append(("of the bound: memory, or caches that gather rows",
                      of_bounds(data, roofs[0][1])))
    if not found or not found[0][1] or len(data.machines) < 2:
        return []
    labels = [title for title, _, _ in found[0][1]]
    made, axes = style.figure(style.height_of_bars(len(labels), len(found)))
    axis = axes[0][0]
    series = [(words, [(value, []) for _, value, _ in kinds]) for words, kinds in found]
    style.grouped_bars(axis, labels, series, lambda value: "%.2f" % value)
    axis.set_xlim(0, 1.1)
    notes = ["%s counts 0: it was not measured on %s." % (title, " and ".join(missing))
             for title, _, missing in found[0][1] if missing]
    notes.append("Over %s. The efficiency on a machine is the geometric mean over its tensors; above "
                 "100 %% counts as 100 %%." % "; ".join(machine.name for machine in data.machines))
    return [style.Picture(
        "portability", "Performance portability (%s)" % data.settings(),
        "The harmonic mean over the machines of the share of the bandwidth that each kernel reaches, "
        "0 where a machine does not run it: 1 is all of every machine. A kernel that gathers rows of "
        "factors is bound by memory or by the rate at which caches give rows at random, whichever "
        "takes it longer.", made, notes)]
