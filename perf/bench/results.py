# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results files: written whole or not at all, checked when read, merged."""
import copy
import json
import os
import re

from bench import names
from bench.machine import GPU_BACKENDS

SCHEMA = "sporades-bench 1"


class Bad(Exception):
    """What is wrong with the input, in one sentence."""


def write(path, results):
    """To a temporary name first: the file appears whole, or what was there stays."""
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in results["rows"])
    head = json.dumps(dict(results, rows=[]), indent=1, ensure_ascii=False)
    before, _, after = head.rpartition('"rows": []')
    text = before + '"rows": [\n' + rows + "\n ]" + after + "\n"
    write_whole(path, text.encode("utf-8"))


def write_whole(path, data):
    folder = os.path.dirname(os.path.abspath(path))
    temporary = os.path.join(folder, ".sporades-%d.new" % os.getpid())
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def _expects(holds, path, what):
    if not holds:
        raise Bad("%s: %s" % (path, what))


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_size(value):
    return _is_number(value) and 0 <= value < float("inf")


def _is_text(value):
    return isinstance(value, str)


def _or_none(check):
    return lambda value: value is None or check(value)


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool)


ROW = {
    "name": _is_text, "kernel": _is_text, "threads": _is_count,
    "native": lambda value: isinstance(value, bool),
    "tensor": _or_none(_is_text), "scalar": _or_none(_is_text), "strategy": _or_none(_is_text),
    "rank": _or_none(_is_count), "mode": _or_none(lambda value: value == "all" or _is_count(value)),
    "rounds": lambda value: isinstance(value, list) and all(
        isinstance(samples, list) and samples and all(_is_size(one) and one > 0 for one in samples)
        for samples in value),
}
WHERE_PRESENT = {
    "dims": _or_none(lambda value: isinstance(value, list) and value and all(map(_is_size, value))),
    "nnz": _or_none(_is_size), "bytes": _is_size, "flops": _is_size, "triad": _is_size,
    "storage_bytes": _is_size, "bytes_per_second": _is_size, "label": _is_text, "refused": _is_text,
    "counters": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    "peer": lambda value: _is_text(value) and value,  # the library whose kernel it is
}
MACHINE = {"name": _or_none(_is_text), "cpu": _or_none(_is_text), "memory": _or_none(_is_size),
           "gpu": _or_none(lambda value: isinstance(value, dict)),
           "caches": lambda value: isinstance(value, list) and all(
               isinstance(one, dict) for one in value)}

SOFTWARE = {"peers": lambda value: isinstance(value, dict) and all(
    isinstance(one, dict) for one in value.values())}


def _check_fields(fields, checks, path, where, must=True):
    _expects(isinstance(fields, dict), path, where + " is no object")
    for name, check in checks.items():
        if must or name in fields:
            _expects(name in fields and check(fields[name]), path,
                     "%s has no good '%s'" % (where, name))


def _check_row(row, path, at):
    where = "row %d" % at
    _check_fields(row, ROW, path, where)
    _check_fields(row, WHERE_PRESENT, path, where, must=False)
    if row["rounds"]:
        positive = {name: lambda value: _is_size(value) and value > 0
                    for name in ("median", "min", "noise")}
        _check_fields(row, positive, path, where)


def load(path):
    """The file's contents, checked; throws Bad."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except OSError as error:
        raise Bad("%s: %s" % (path, error.strerror)) from None
    except (ValueError, RecursionError) as error:
        raise Bad("%s is no JSON: %s" % (path, error)) from None
    _expects(isinstance(results, dict), path, "no results of sporades-bench")
    schema = results.get("schema")
    _expects(schema == SCHEMA, path, "schema is %r; this program reads %r" % (schema, SCHEMA))
    for name, kind in (("machine", dict), ("software", dict), ("rows", list), ("date", str)):
        _expects(isinstance(results.get(name), kind), path, "there is no good '%s'" % name)
    _check_fields(results["machine"], MACHINE, path, "the machine")
    _check_fields(results["software"], SOFTWARE, path, "the software", must=False)
    for at, row in enumerate(results["rows"]):
        _check_row(row, path, at)
    results["path"] = os.path.basename(path)
    return results


def is_gpu(results):
    return results["software"].get("backend") in GPU_BACKENDS


def machine_name(results):
    """As its owner calls it, or the processor that computed, and the backend."""
    machine, backend = results["machine"], results["software"].get("backend") or "unknown backend"
    if machine.get("name"):
        return machine["name"]
    if is_gpu(results):
        gpu = machine.get("gpu") or {}
        return "%s (%s)" % (gpu.get("name", "GPU"), backend)
    cpu = re.sub(r"\((R|TM)\)|\d+-Core|Processor|CPU|@.*", "", machine.get("cpu") or "") or "host"
    cores = machine.get("processors") or machine.get("cores") or 1
    return "%s, %d core%s (%s)" % (" ".join(cpu.split()), cores, "" if cores == 1 else "s", backend)


def _split(results):
    """Rows of Sporades, with those of native loops; rows of other libraries."""
    return ([row for row in results["rows"] if not row.get("peer")],
            [row for row in results["rows"] if row.get("peer")])


class Machine:
    """All that was measured on one machine, of one file or several. rows has none of other
    libraries: see beside_peers."""

    def __init__(self, name, results):
        self.name, self.latest, self.files = name, results, [results]
        self.gpu = is_gpu(results)
        self.rows = {names.key(row): row for row in _split(results)[0]}
        self.replaced = 0

    def add(self, results):
        """results are later ones."""
        self.files.append(results)
        own, _ = _split(results)
        if own:
            self.latest = results
        for row in own:
            if not row["rounds"] and self.rows.get(names.key(row), {}).get("rounds"):
                continue  # measured before, refused now: what was measured stays
            self.replaced += names.key(row) in self.rows
            self.rows[names.key(row)] = row

    def peer_rows(self):
        """Rows of other libraries; of rows that two files have, the later one's."""
        return {names.key(row): row for results in self.files for row in _split(results)[1]}

    def software_of_peers(self):
        """{library: what is known of it}, of the latest file that names it."""
        return {name: about for results in self.files
                for name, about in results["software"].get("peers", {}).items()}

    def beside_peers(self):
        """The machine with rows of other libraries. Other rows are those of the files that have
        such rows, measured in the same minutes, and this machine's where these have none."""
        found = copy.copy(self)
        found.rows = dict(self.rows)
        for results in self.files:
            own, peers = _split(results)
            if peers:
                found.rows.update((names.key(row), row) for row in own if row["rounds"])
        found.rows.update(self.peer_rows())
        return found

    def threads(self):
        """The largest number that rows were measured with."""
        return max((row["threads"] for row in self.rows.values()), default=1)

    def timed(self):
        """Rows with times, measured with all threads."""
        most = self.threads()
        return [row for row in self.rows.values() if row["rounds"] and row["threads"] == most]


def merge(files):
    """Machines, in the order in which they first come; of rows that two files of one machine have,
    the later one's counts."""
    machines = {}
    for first in files:
        name = machine_name(first)
        if name in machines:
            continue
        same = sorted((one for one in files if machine_name(one) == name),
                      key=lambda one: one["date"])
        machines[name] = Machine(name, same[0])
        for one in same[1:]:
            machines[name].add(one)
    return list(machines.values())
