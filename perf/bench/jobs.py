# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the suite into runs of sporades_perf that fit the time and the memory."""
import argparse
import os
import re

from bench.results import Bad


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError("'%s' is no number of seconds" % text)
    return value


def size(text):
    """Bytes, of 500M, 8G or a plain number."""
    match = re.match(r"^(\d{1,15}(?:\.\d{1,15})?)([KMGT]?)B?$", text.strip(), re.IGNORECASE)
    value = match and int(float(match.group(1)) * 1000 ** " KMGT".index(match.group(2).upper() or " "))
    if not value:
        raise argparse.ArgumentTypeError("'%s' is no number of bytes, such as 8G" % text)
    return value


def round_down(number):
    """To 1, 2 or 5 times a power of ten, so that two runs agree on their tensors."""
    power = 1
    while power * 10 <= number:
        power *= 10
    return max(step * power for step in (1, 2, 5) if step == 1 or step * power <= number)


# How many of the tensors a part takes, from the first on; None: all. Others take no tensor.
TAKEN = {"all": None, "first": 1, "two": 2}


def columns(parts, at):
    """The largest number of components with which parts take the at-th tensor."""
    return max((int(rank) for part in parts if part["tensors"] in TAKEN
                and (TAKEN[part["tensors"]] is None or at < TAKEN[part["tensors"]])
                for rank in part["ranks"].split(",")), default=1)


class Suite:
    """parts: as they stand in sporades-bench. common: options of all parts. tensors: {name: (dims,
    nonzeros)} of the originals. rates: nonzeros a second and core, and a second and GPU."""

    def __init__(self, parts, common, tensors, quick_tensors, rates):
        self.parts, self.common, self.tensors = parts, common, tensors
        self.quick_tensors, self.rates = quick_tensors, rates

    def chosen_parts(self, names, quick):
        known = [part["part"] for part in self.parts]
        for name in names or []:
            if name not in known:
                raise Bad("there is no part '%s'; there are %s" % (name, ", ".join(known)))
        chosen = []
        for part in self.parts:
            if names is None or part["part"] in names:
                changes = part.get("quick", {}) if quick else {}
                if changes is not None:
                    chosen.append(dict(self.common, **dict(part, **changes)))
                    chosen[-1].pop("quick", None)
        return chosen

    def bytes_needed(self, dims, nonzeros, rank):
        """An estimate for all modes: sorted copies and products of SpTTM, each a mode, and what
        generating takes; factors and products of MTTKRP and Phi."""
        return nonzeros * (64 + len(dims) * (48 + 8 * rank)) + sum(dims) * rank * 8 * 6

    def look_alikes(self, options, parts, memory, on_gpu, cores):
        """Names with nonzeros, such as uber:1000000, and what is left out: [(name, why)]."""
        wanted = options.tensors
        if wanted is None:
            wanted = self.quick_tensors if options.quick else list(self.tensors)
        speed = self.rates[1] if on_gpu else self.rates[0] * cores
        found, left_out = [], []
        for name in wanted:
            base = name.split(":")[0]
            if name != base or base not in self.tensors:  # the user knows what fits
                found.append(name)
                continue
            dims, nonzeros = self.tensors[base]
            nonzeros = min(nonzeros, options.budget * speed)
            rank = columns(parts, len(found))
            without = self.bytes_needed(dims, 0, rank)
            per_nonzero = self.bytes_needed(dims, 1, rank) - without
            left = memory - without
            if left < 1000 * per_nonzero:
                left_out.append((name, "its factors do not fit the memory of %.3g GB"
                                 % (memory / 1e9)))
                continue
            found.append("%s:%d" % (name, round_down(min(nonzeros, left / per_nonzero))))
        return found, left_out


class Job:
    """One run of sporades_perf."""

    def __init__(self, part, tensor, threads, round_number, files):
        self.part, self.tensor, self.threads, self.round = part, tensor, threads, round_number
        self.weight = part["weight"]
        self.arguments = ["--benchmark_filter=" + part["filter"],
                          "--benchmark_repetitions=%d" % part["repetitions"]]
        for option in ("ranks", "scalars", "strategies"):
            if option in part:
                self.arguments.append("--%s=%s" % (option, part[option]))
        # without a tensor the least one: sporades_perf makes its tensors before it looks at filters
        self.arguments.append("--tensors=" + (tensor or "uniform:1000"))
        if files:
            self.arguments.append("--files=" + ",".join(files))

    def without_paths(self):
        """The arguments, files without their folders."""
        found = []
        for argument in self.arguments:
            option, _, value = argument.partition("=")
            if option in ("--tensors", "--files"):
                value = ",".join(os.path.basename(path) for path in value.split(","))
            found.append(option + "=" + value)
        return found

    def what(self):
        text = self.part["part"]
        if self.tensor:
            text += " " + os.path.basename(self.tensor)
        if self.part.get("threads") == "fewer":
            text += ", %d thread%s" % (self.threads, "" if self.threads == 1 else "s")
        return text


def powers_below(threads):
    found, count = [], 1
    while count < threads:
        found.append(count)
        count *= 2
    return found


def plan(parts, tensors, files, threads, has_threads, rounds):
    """All jobs: round by round, so that what lacks time at the end lacks a second look only."""
    jobs = []
    for round_number in range(rounds):
        for part in parts:
            fewer = part.get("threads") == "fewer"
            counts = (powers_below(threads) if has_threads else []) if fewer else [threads]
            taken = part["tensors"]
            for tensor in tensors[:TAKEN[taken]] if taken in TAKEN else [None]:
                for count in counts:
                    jobs.append(Job(part, tensor, count, round_number,
                                    files if taken == "files" else []))
    return jobs


def arguments_by_part(jobs):
    """{part: {tensor or "": arguments}} of all jobs."""
    found = {}
    for job in jobs:
        tensor = os.path.basename(job.tensor or "")
        found.setdefault(job.part["part"], {})[tensor] = " ".join(job.without_paths())
    return found
