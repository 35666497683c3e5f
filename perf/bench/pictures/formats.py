# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Storage by format and the time to build it; fibers' lengths and the time of SpTTM; SspTTM."""
from bench import kernels, names, noise, report_data
from bench.pictures import style


def _bars(data, name, title, reading, value, notes, log):
    series = [(data.machine_names(machine.name), report_data.of_formats(machine, data.scalar, value))
              for machine in data.machines]
    labels = list(dict.fromkeys(what for _, found in series for what in found))
    if not labels:
        return None
    made, axes = style.figure(style.height_of_bars(len(labels), len(series)))
    axis = axes[0][0]
    most = style.grouped_bars(axis, labels, [
        (name_, [(noise.geometric_mean(found.get(label, [])), [(one, False) for one in
                                                              found.get(label, [])])
                 for label in labels]) for name_, found in series], style.number)
    if log:
        axis.set_xscale("log")
        axis.set_xlim(right=most * 2.2)
        axis.xaxis.set_major_formatter(lambda one, _: style.number(one))
    else:
        axis.set_xlim(0, most * 1.14)
    return style.Picture(name, title, reading, made, notes, data.machine_names.key())


def storage(data):
    copies = ["As many copies as serve all modes: one of permuted, alto and flycoo, one a mode of the "
              "others. 32-bit indices."]
    return [picture for picture in (
        _bars(data, "storage", "Storage by format (%s)" % data.scalar,
              "Bytes a nonzero: a bar is the geometric mean over the tensors, a dot one tensor; "
              "shorter is smaller.", lambda row: row["storage_bytes"] / row["nnz"], copies, False),
        _bars(data, "building", "Time to build a format (%s)" % data.scalar,
              "Nanoseconds a nonzero from unsorted coordinates: a bar is the geometric mean over the "
              "tensors, a dot one tensor; shorter is faster, and the scale is logarithmic.",
              lambda row: row["median"] / row["nnz"] * 1e9, copies, True)) if picture]


def _fibers(data, machine):
    rows = machine.timed()
    spreads = {(row["tensor"], row["mode"]): row["counters"].get("fiber_spread")
               for row in machine.rows.values() if row["kernel"] == "selector"}
    points = {}
    for row in rows:
        spread = spreads.get((row["tensor"], row["mode"]))
        if (row["kernel"] == "spttm" and row["strategy"] == "automatic" and spread is not None and
                row["scalar"] == data.scalar and row["rank"] == data.rank and row.get("nnz")):
            points.setdefault(names.family(row["tensor"]), []).append(
                (spread, row["median"] / row["nnz"] * 1e9))
    if not points:
        return None
    made, axes = style.figure(2.8)
    axis = axes[0][0]
    for at, (family, found) in enumerate(points.items()):
        axis.plot(*zip(*found), linestyle="none", marker=style.marker(at), color=style.colour(at),
                  markersize=6, markeredgecolor=style.INK, markeredgewidth=0.5,
                  label=data.tensor_names(family))
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("standard deviation of the fibers' lengths / their mean")
    axis.set_ylabel("ns a nonzero")
    axis.grid(True)
    style.legend(axis, 3)
    return style.Picture(
        "fibers-%d" % data.machines.index(machine),
        "SpTTM by how uneven fibers are (%s, R = %s)%s" % (data.scalar, data.rank, data.of(machine)),
        "Each mark is a mode of a tensor, as in figure 8 of Ma et al. (2018): marks that rise to the "
        "right mean that uneven fibers cost time.", made, [], data.tensor_names.key())


def _semi_sparse(data):
    families, series = [], []
    for machine in data.machines:
        rows = machine.timed()
        both = [kernels.wholes(rows, "sspttm", data.scalar, data.rank, strategy=strategy)
                for strategy in ("semi_sparse", "as_sparse")]
        speeds = {family: both[1][family].seconds / both[0][family].seconds
                  for family in both[0] if family in both[1]}
        families += [family for family in speeds if family not in families]
        series.append((data.machine_names(machine.name), speeds))
    if not families:
        return None
    made, axes = style.figure(style.height_of_bars(len(families), len(series)))
    axis = axes[0][0]
    most = style.grouped_bars(axis, [data.tensor_names(family) for family in families], [
        (name, [(speeds.get(family), []) for family in families]) for name, speeds in series],
                              lambda value: "%.2f" % value if value else "not measured")
    axis.axvline(1, color=style.INK, linewidth=0.9, linestyle="--")
    axis.set_xlim(0, most * 1.15)
    return style.Picture(
        "sspttm", "SspTTM over SpTTM on the same tensor (%s, R = %s)" % (data.scalar, data.rank),
        "How many times as fast a product is that knows the tensor's dense mode, as in figure 7 of "
        "Ma et al. (2018): right of the dashed line knowing it pays.", made, [],
        data.tensor_names.key())


def draw(data):
    found = [_semi_sparse(data)] + [_fibers(data, machine) for machine in data.machines]
    return [picture for picture in found if picture]
