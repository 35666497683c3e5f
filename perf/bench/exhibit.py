# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A figure or table of a paper, as far as rows of results have what it shows."""
import copy
import re

from bench import claims, jobs, kernels, names, noise, tables
from bench.originals import ORIGINALS
from bench.text import number


class Exhibit:
    """number: such as "figure 8". shows: what it has in the paper, and ours: what is shown here, in
    whole sentences. make(data, draw) gives back tables and pictures, None where there are no rows; it
    draws with bench/pictures/papers.py. lacks: [Series], named where no machine has its rows. why: what
    is said where nothing is shown."""

    def __init__(self, number, shows, ours, make, why, lacks=()):
        self.number, self.shows, self.ours = number, shows, ours
        self.make, self.why, self.lacks = make, why, lacks


class Series:
    """A kernel and a strategy, as bench/claims.py names them, of the paper's number of components.
    why: said where there are no rows; "": what the program says that refuses them. library: whose rows
    they are, if not ours."""

    def __init__(self, label, kernel, strategy, why="", library=None):
        self.label, self.kernel, self.strategy, self.why = label, kernel, strategy, why
        self.library = library

    def cases(self, data, machine):
        """{family: {mode: row}} of the largest tensor of each family."""
        side = claims.side(machine.beside_peers(), self.kernel, self.strategy, data.rank)
        side = {key: row for key, row in side.items() if key[1] in (data.scalar, None)}
        shown = {row["tensor"] for row in kernels.of_largest(list(side.values()))}
        found = {}
        for (tensor, _, _, mode), row in side.items():
            if row["tensor"] in shown:
                found.setdefault(names.family(tensor), {})[mode] = row
        return found


    def refusal(self, data):
        """Why its rows have no times, in the words of the first of them; "" where there are none."""
        return next((row["refused"] for machine in data.machines for row in machine.rows.values()
                     if not row["rounds"] and row.get("refused") and row["scalar"] == data.scalar
                     and (row["kernel"], row["strategy"]) == (self.kernel, self.strategy)), "")


def of_peer(library, kernel, strategy=""):
    """A Series of rows that perf/peers/run has made, given to perf/report with the others."""
    return Series(library, kernel, (library + " " + strategy).strip(),
                  "not in these results: perf/peers/run --peer %s measures it" % library.lower(), library)


class Shown:
    """An exhibit as the page has it."""

    def __init__(self, key, paper, exhibit, found, missing):
        self.name = key + "-" + re.sub(r"\W+", "-", exhibit.number).strip("-")
        self.title = "%s, %s" % (paper.title, exhibit.number)
        self.shows, self.ours, self.missing = exhibit.shows, exhibit.ours, missing
        self.tables = [one for one in found if isinstance(one, tables.Table)]
        self.pictures = [one for one in found if not isinstance(one, tables.Table)]
        for at, picture in enumerate(self.pictures):
            picture.name = "%s-%d" % (self.name, at)


def shown(key, paper, exhibits, data, draw):
    """[Shown] of a paper: as tables and pictures of rows, and what lacks rows. draw:
    bench/pictures/papers.py."""
    own = copy.copy(data)
    own.scalar, own.rank = paper.scalar, paper.rank
    found = []
    for exhibit in exhibits:
        made = [one for one in exhibit.make(own, draw) if one is not None]
        made = [one for one in made if not isinstance(one, tables.Table) or one.rows]
        found.append(Shown(key, paper, exhibit, made, _missing(exhibit, own, made)))
    return found


def _missing(exhibit, data, made):
    """In a line, what is not shown and why; "" of a whole exhibit."""
    absent = {}  # {why: [what]}
    for one in exhibit.lacks:
        why = one.why if made else ""  # else the reason is that of the exhibit, or a refusal
        why = why or not one.why and one.refusal(data)
        if why and not any(one.cases(data, machine) for machine in data.machines):
            absent.setdefault(why, []).append(one.label)
    words = "; ".join("%s (%s)" % (", ".join(labels), why) for why, labels in absent.items())
    return words if made or words else exhibit.why


def joint(*sides):
    """Of {mode: row}s the rows of what all have: all modes together, or each mode that all have; []
    where that is none, or the tensors differ."""
    modes = [mode for mode in sides[0] if all(mode in one for one in sides)]
    modes = ["all"] if "all" in modes else modes
    sizes = {one[mode].get("nnz") for one in sides for mode in modes}
    return [tuple(one[mode] for one in sides) for mode in modes] if len(sizes) == 1 else []


def seconds(side):
    """Of all modes; None where some are missing."""
    rows = [side["all"]] if "all" in side else list(side.values())
    dims = rows[0].get("dims") or []
    if rows[0]["mode"] not in ("all", None) and len(rows) < len(dims):
        return None
    return sum(row["median"] for row in rows)


def ratios(fast, slow):
    """{family: how many times as fast}, of cases of two series."""
    found = {}
    for family, own in fast.items():
        rows = joint(own, slow.get(family, {}))
        if rows:
            found[family] = (sum(other["median"] for _, other in rows) /
                             sum(one["median"] for one, _ in rows))
    return found


def speedups(data, machine, series, base):
    """{label: {family: times as fast as the base}} of several series; of another library those that
    were measured in turn with it."""
    machine = machine.beside({base.library}) if base.library else machine
    slow = base.cases(data, machine)
    found = {one.label: ratios(one.cases(data, machine), slow) for one in series}
    return {label: values for label, values in found.items() if values}


def saved(found):
    """Times as fast as per cent of time saved: (t1 - t2) / t1, as Yang, Li & Li have them."""
    return {label: {family: 100 * (1 - 1 / ratio) for family, ratio in values.items()}
            for label, values in found.items()}


def mean_of_each(found):
    """{label: geometric mean}"""
    return {label: noise.geometric_mean(values.values()) for label, values in found.items()}


def each(draw_one):
    """make of an exhibit that has a table or picture a machine."""
    return lambda data, draw: [draw_one(data, draw, machine) for machine in data.machines]


def times_table(data, machine, series, unit="ms", by_mode=False):
    """Time of all modes together, or of each mode, a row a tensor and a column a series; of several
    sizes of a look-alike only the largest."""
    columns = {one.label: one.cases(data, machine) for one in series}
    columns = {label: cases for label, cases in columns.items() if cases}
    families = list(dict.fromkeys(family for cases in columns.values() for family in cases))
    size, rows = {"ms": 1e-3, "s": 1.0}[unit], []
    for family in families:
        sides = [cases.get(family, {}) for cases in columns.values()]
        nonzeros = max(row.get("nnz") or 0 for side in sides for row in side.values())
        sides = [{mode: row for mode, row in side.items() if (row.get("nnz") or 0) == nonzeros}
                 for side in sides]
        head = [family, number(nonzeros / 1e6) + " M" if nonzeros else "?"]
        if by_mode:
            modes = sorted({mode for side in sides for mode in side if isinstance(mode, int)})
            found = [([str(mode + 1)], [side[mode]["median"] if mode in side else None
                                        for side in sides]) for mode in modes]
        else:
            found = [([], [seconds(side) if side else None for side in sides])]
        rows += [head + place + [number(one / size) if one else "–" for one in times]
                 for place, times in found]
    return tables.Table("%s: %s (%s)" % (machine.name, "seconds" if unit == "s" else "milliseconds",
                                         data.scalar),
                        ["tensor", "nonzeros"] + ["mode"] * by_mode + list(columns), rows,
                        "Modes count from 1." if by_mode else "All modes together.")


def tensors_table(paper):
    """make: the tensors as they are in the paper, and what was measured."""
    def make(data, _):
        rows = []
        for name, base in paper.tensors:
            dims, nonzeros = ORIGINALS[base]
            measured = [max((row.get("nnz") or 0 for row in machine.rows.values()
                             if row["tensor"] and jobs.stem(row["tensor"]) == base), default=0)
                        for machine in data.machines]
            rows.append([name, base, " x ".join(map(str, dims)), str(nonzeros)] +
                        [str(one) if one else "–" for one in measured])
        return [tables.Table("Tensors", ["in the paper", "look-alike", "dims", "nonzeros there"] +
                             ["nonzeros, " + one.name for one in data.machines], rows)]
    return make


def platforms(data, _):
    return [tables.machines(data)]
