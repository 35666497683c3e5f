# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results files: written whole or not at all, checked when read, merged."""
import collections
import copy
import json
import os
import re
import shutil

from bench import names
from bench.machine import GPU_BACKENDS

SCHEMA = "sporades-bench 1"
MOST = 1e30  # of any number, and of one over any time


class Bad(Exception):
    """What is wrong with the input, in one sentence."""


def write(path, results):
    """To a temporary name first: the file appears whole, or what was there stays."""
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in results["rows"])
    head = json.dumps(dict(results, rows=[]), indent=1, ensure_ascii=False)
    before, _, after = head.rpartition('"rows": []')
    text = before + '"rows": [\n' + rows + "\n ]" + after + "\n"
    # names of files may be no UTF-8
    write_whole(path, text.encode("utf-8", "replace"))


def _is_written_directly(path):
    """A device or a pipe stays what it is."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def check_output(path):
    """Throws Bad where write_whole(path, ...) would fail, as far as that can be known before."""
    target = path if _is_written_directly(path) else os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path or ".") or path.endswith("/") or not os.access(target, os.W_OK):
        raise Bad("%s cannot be written" % path)
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise Bad("%s: %s" % (path, error.strerror)) from None


def write_whole(path, data):
    """The file appears whole, or what was there stays; throws Bad. Links are followed."""
    is_direct, target = _is_written_directly(path), os.path.realpath(path)
    written = path if is_direct else os.path.join(
        os.path.dirname(target), ".sporades-%d.new" % os.getpid())
    try:
        with open(written, "wb") as file:
            file.write(data)
            file.flush()
            if not is_direct:
                os.fsync(file.fileno())
        if not is_direct:
            if os.path.exists(target):
                shutil.copymode(target, written)
            os.replace(written, target)
    except BaseException as error:
        if not is_direct and os.path.exists(written):
            os.remove(written)
        if isinstance(error, OSError):
            raise Bad("%s: %s" % (path, error.strerror)) from None
        raise


def _expects(holds, path, what):
    if not holds:
        raise Bad("%s: %s" % (path, what))


def _is_number(value):
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and -MOST < value < MOST)


def _is_size(value):
    return _is_number(value) and value >= 0


def _is_time(value):
    return _is_number(value) and value > 1 / MOST


def _is_text(value):
    return isinstance(value, str)


def _or_none(check):
    return lambda value: value is None or check(value)


def _is_count(value):
    return isinstance(value, int) and _is_size(value)


ROW = {
    "name": _is_text, "kernel": _is_text, "threads": lambda value: _is_count(value) and value > 0,
    "native": lambda value: isinstance(value, bool),
    "tensor": _or_none(_is_text), "scalar": lambda value: value in (None, *names.SCALARS),
    "strategy": _or_none(_is_text),
    "rank": _or_none(_is_count), "mode": _or_none(lambda value: value == "all" or _is_count(value)),
    "rounds": lambda value: isinstance(value, list) and all(
        isinstance(samples, list) and samples and all(map(_is_time, samples))
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
           "gpu": _or_none(lambda value: isinstance(value, dict) and _is_text(value.get("name"))
                           and (value.get("memory") is None or _is_size(value["memory"]))),
           "caches": lambda value: isinstance(value, list) and all(
               isinstance(one, dict) and _is_size(one.get("size", 0)) for one in value)}
MACHINE_WHERE_PRESENT = dict.fromkeys(("sockets", "cores", "processors"), _or_none(_is_count))

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
        _check_fields(row, dict.fromkeys(("median", "min", "noise"), _is_time), path, where)
    dims = row.get("dims")
    _expects(not dims or not _is_count(row["mode"]) or row["mode"] < len(dims), path,
             "%s is of mode %s of %d" % (where, row["mode"], len(dims or [])))


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
    _expects(isinstance(results.get("left_out", []), list), path, "there is no good 'left_out'")
    _check_fields(results["machine"], MACHINE, path, "the machine")
    _check_fields(results["machine"], MACHINE_WHERE_PRESENT, path, "the machine", must=False)
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

    def beside(self, libraries):
        """The machine with rows of these libraries, and of its own those that were measured in turn
        with them: rows of one kernel, tensor, type of values and number of components are all of one
        file, that with the most rows of the libraries, of equals the latest: a library's program may
        have failed on some modes."""
        def what(row):
            return row["kernel"], row["tensor"], row["scalar"], row["rank"]

        fullest = {}  # what: (rows of the libraries, all rows)
        for results in self.files:
            own, peers = _split(results)
            peers = [row for row in peers if row["peer"] in libraries]
            counts = collections.Counter(map(what, peers))
            in_turn = {one: (count, {}) for one, count in counts.items()
                       if count >= fullest.get(one, (0,))[0]}
            for row in own + peers:
                if what(row) in in_turn:
                    in_turn[what(row)][1][names.key(row)] = row
            fullest.update(in_turn)
        found = copy.copy(self)
        found.rows = {key: row for _, rows in fullest.values() for key, row in rows.items()}
        found.files = []  # so that nothing else stands beside these rows
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
