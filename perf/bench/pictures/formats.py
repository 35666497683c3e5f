# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Storage by format and the time to build it."""
from bench import noise, report_data
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
        (machine, [(noise.geometric_mean(found.get(label, [])), [(one, False) for one in
                                                              found.get(label, [])])
                 for label in labels]) for machine, found in series], style.number)
    if log:
        axis.set_xscale("log")
        axis.set_xlim(right=most * 2.2)
        axis.xaxis.set_major_formatter(lambda one, _: style.number(one))
    else:
        axis.set_xlim(0, most * 1.14)
    return style.Picture(name, title, reading, made, notes, data.machine_names.key())


def draw(data):
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
