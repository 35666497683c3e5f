# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all pictures and tables of a report are made of."""
from bench import kernels, noise, peaks


class Data:
    """machines: merged results. Pictures and most tables show one scalar type and one rank: scalar and
    rank, or of None what was measured. given_peaks: of --peak. The names are those that pictures show;
    None without pictures."""

    def __init__(self, machines, scalar, rank, given_peaks, machine_names=None, tensor_names=None):
        rows = [row for machine in machines for row in machine.rows.values()]
        has_float_only = {row["scalar"] for row in rows if row["scalar"]} == {"float"}
        self.machines, self.scalar = machines, scalar or ("float" if has_float_only else "double")
        self.rank = kernels.shown_rank(rows, rank)
        self.peaks = peaks.of_machines(machines, given_peaks)
        self.machine_names, self.tensor_names = machine_names, tensor_names

    def settings(self):
        """What a title says of them: the rank only where something has one."""
        return self.scalar + (", R = %s" % self.rank if self.rank else "")

    def of(self, machine):
        """What a title says where there are several machines."""
        return ", " + machine.name if len(self.machines) > 1 else ""


class Change:
    """A row of two results, and how many times as long the new one takes."""

    def __init__(self, old, new):
        self.old, self.new = old, new
        self.ratio = new["median"] / old["median"]
        self.band = max(old["noise"], new["noise"])

    def is_beyond_noise(self):
        return not 1 / (1 + self.band) <= self.ratio <= 1 + self.band

    def lost(self, share):
        """Whether it takes longer by more than the share beyond noise."""
        return self.ratio > 1 + share + self.band

    def gained(self, share):
        return 1 / self.ratio > 1 + share + self.band


def changes(old, new):
    """[Change] of the rows of two Machines that measure the same, and how many only one has."""
    both = [key for key in new.rows
            if key in old.rows and new.rows[key]["rounds"] and old.rows[key]["rounds"]]
    timed = [sum(1 for row in machine.rows.values() if row["rounds"]) for machine in (old, new)]
    return ([Change(old.rows[key], new.rows[key]) for key in both],
            timed[0] - len(both), timed[1] - len(both))


def mean_ratio(found):
    return noise.geometric_mean([change.ratio for change in found])


def of_formats(machine, scalar, value):
    """{format: [value]} over the tensors, of as many copies as serve all modes; `plan` is that of
    MTTKRP. value(row): what may be added up over the modes."""
    by_tensor = {}
    for row in machine.timed():
        if row["kernel"] in ("build", "plan") and row["scalar"] == scalar and (
                row.get("nnz") and row.get("storage_bytes")):
            what = (row["strategy"] or "MTTKRP's plan", row["tensor"])
            by_tensor.setdefault(what, {})[row["mode"]] = row
    found = {}
    for (what, _), modes in by_tensor.items():
        whole = modes.pop(None, None)  # of all modes together
        if len(modes) == len((whole or modes[min(modes)]).get("dims") or ()):
            found.setdefault(what, []).append(sum(map(value, modes.values())))
        elif whole:
            found.setdefault(what, []).append(value(whole))
    return found


def twins(rows):
    """[(native row, strategy, twin, times as fast, noise)]: each native row beside the library's of
    the same strategy, and beside `automatic`."""
    own = {}
    for row in rows:
        if row["rounds"] and not row["native"]:
            what = (row["kernel"], row["tensor"], row["scalar"], row["rank"], row["mode"])
            own.setdefault(what, {})[row["strategy"]] = row
    found = []
    for native in rows:
        if not native["native"] or not native["rounds"]:
            continue
        what = (native["kernel"], native["tensor"], native["scalar"], native["rank"], native["mode"])
        twins = own.get(what, {})
        chosen = {"": twins.get(native["strategy"])}
        if native["strategy"] is not None:
            chosen = {native["strategy"]: twins.get(native["strategy"]),
                      "automatic": twins.get("automatic")}
        for strategy, twin in chosen.items():
            if twin:
                found.append((native, strategy, twin, native["median"] / twin["median"],
                              max(native["noise"], twin["noise"])))
    return found
