# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed by the number of threads and of components."""
from bench import kernels, names
from bench.pictures import style


def by_threads(machine):
    """{(kernel, tensor, scalar, rank): {threads: row}} of what was measured with one thread, too."""
    found = {}
    for row in machine.rows.values():
        is_whole = row["mode"] in ("all", None) and row["strategy"] in ("automatic", None)
        if row["rounds"] and is_whole and not row["native"]:
            what = (row["kernel"], row["tensor"], row["scalar"], row["rank"])
            found.setdefault(what, {})[row["threads"]] = row
    return {what: rows for what, rows in found.items() if 1 in rows and len(rows) > 1}


def _threads(data, machine):
    found = by_threads(machine)
    if not found:
        return None
    made, axes = style.figure(3.3)
    axis = axes[0][0]
    counts = sorted({threads for rows in found.values() for threads in rows})
    axis.plot(counts, counts, "--", color=style.INK, linewidth=0.9, label="as many times as threads")
    for at, (what, rows) in enumerate(sorted(found.items(), key=lambda one: str(one[0]))):
        points = sorted((threads, rows[1]["median"] / row["median"]) for threads, row in rows.items())
        axis.plot(*zip(*points), marker=style.marker(at), color=style.colour(at), markersize=5.5,
                  markeredgecolor=style.INK, markeredgewidth=0.5,
                  label="%s: %.2f" % (kernels.title(what[0]), points[-1][1]))
    axis.set_xscale("log", base=2)
    axis.set_yscale("log", base=2)
    for side, formatted in ((axis.xaxis, counts), (axis.yaxis, counts)):
        side.set_ticks(formatted)
        side.set_major_formatter(lambda value, _: style.number(value))
        side.set_minor_formatter(lambda value, _: "")
    axis.set_xlabel("threads")
    axis.set_ylabel("times as fast as one thread")
    axis.grid(True)
    style.legend(axis, 2)
    tensor = next((what[1] for what in found if what[1]), None)
    of = " on " + data.tensor_names(names.family(tensor)) if tensor else ""
    return style.Picture(
        "threads-%d" % data.machines.index(machine),
        "Scaling with threads%s%s" % (of, data.of(machine)),
        "How many times as fast each kernel is as with one thread; the dashed line is perfect, and "
        "the numbers above are those of the most threads.", made, [], data.tensor_names.key())


def _ranks(data, machine):
    series = {}
    for row in machine.timed():
        if (row["rank"] and row["mode"] == "all" and row["strategy"] == "automatic" and
                row["scalar"] == data.scalar and row.get("flops") and not row["native"] and
                row["kernel"] != "spttm"):  # which has a picture of its own
            series.setdefault((row["kernel"], row["tensor"]), {})[row["rank"]] = row
    most = max((len(rows) for rows in series.values()), default=0)
    series = {what: rows for what, rows in series.items() if len(rows) == most}
    if most < 3:
        return None
    made, axes = style.figure(3.0)
    axis = axes[0][0]
    for at, ((kernel, tensor), rows) in enumerate(series.items()):
        points = sorted((rank, row["flops"] / row["median"] / 1e9) for rank, row in rows.items())
        axis.plot(*zip(*points), marker=style.marker(at), color=style.colour(at), markersize=5.5,
                  markeredgecolor=style.INK, markeredgewidth=0.5, label="%s, %s" % (
                      kernels.title(kernel), data.tensor_names(names.family(tensor))))
    ranks = sorted({rank for rows in series.values() for rank in rows})
    axis.set_xticks(ranks)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("components R")
    axis.set_ylabel("Gflop/s")
    axis.grid(True)
    style.legend(axis, 2)
    return style.Picture(
        "ranks-%d" % data.machines.index(machine),
        "Speed by the number of components (%s)%s" % (data.scalar, data.of(machine)),
        "Flops a second for R from %d to %d: where a line is level, time grows as R does; where it "
        "rises, more components cost less each."
        % (ranks[0], ranks[-1]), made, [], data.tensor_names.key())


def draw(data):
    found = [draw_one(data, machine) for draw_one in (_threads, _ranks) for machine in data.machines]
    return [picture for picture in found if picture]
