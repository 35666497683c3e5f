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


def scale(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError("'%s' is no share of the nonzeros, above 0 and at most 1"
                                         % text)
    return value


def round_down(number):
    """To 1, 2 or 5 times a power of ten, so that two runs agree on their tensors."""
    power = 1
    while power * 10 <= number:
        power *= 10
    return max(step * power for step in (1, 2, 5) if step == 1 or step * power <= number)


LEAST = 5000  # nonzeros that --scale leaves, or all

# How many of the tensors a part takes, from the first on; None: all.
TAKEN = {"all": None, "first": 1, "two": 2}


def stem(tensor):
    """"uber" of uber:1000 and of a file uber.tns."""
    return os.path.basename(tensor).split(":")[0].split(".")[0]


def taken(part, tensors):
    """Those of the tensors that a part takes, as it names them or by their number; [None] where it
    takes none."""
    wanted = part["tensors"]
    if isinstance(wanted, tuple):
        return [one for one in tensors if stem(one) in wanted]
    return tensors[:TAKEN[wanted]] if wanted in TAKEN else [None]


def columns(parts, tensors):
    """The largest number of components with which parts take the last one of the tensors."""
    return max((int(rank) for part in parts if tensors[-1] in taken(part, tensors)
                for rank in part["ranks"].split(",")), default=1)


class Suite:
    """parts: as they stand in sporades-bench. common: options of all parts. originals: {name: (dims,
    nonzeros)}. names, quick_names: the look-alikes that are measured. rates: nonzeros a second and
    core, and a second and GPU."""

    def __init__(self, parts, common, originals, names, quick_names, rates):
        self.parts, self.common, self.originals = parts, common, originals
        self.names, self.quick_names, self.rates = names, quick_names, rates

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

    def share_of_memory(self, on_gpu):
        """That of the GPU's, or of what is free on a host, which may be taken by default."""
        return 0.5

    def wanted_nonzeros(self, nonzeros, options, on_gpu, cores):
        """Of a look-alike of a tensor with so many, if they fit the memory."""
        if options.scale:
            return int(max(nonzeros * options.scale, min(nonzeros, LEAST)))
        speed = self.rates[1] if on_gpu else self.rates[0] * cores
        return round_down(min(nonzeros, options.budget * speed))

    def look_alikes(self, options, parts, memory, on_gpu, cores):
        """Names with nonzeros, such as uber:1000000; what is left out, and what has fewer nonzeros
        than wanted, as [(name, why)]."""
        wanted = options.tensors
        if wanted is None:
            wanted = self.quick_names if options.quick else self.names
        found, left_out, smaller = [], [], []
        for name in wanted:
            if name not in self.originals:  # with nonzeros, or no look-alike: the user knows what fits
                found.append(name)
                continue
            dims, original = self.originals[name]
            rank = columns(parts, found + [name])
            without = self.bytes_needed(dims, 0, rank)
            room = (memory - without) / (self.bytes_needed(dims, 1, rank) - without)
            nonzeros = self.wanted_nonzeros(original, options, on_gpu, cores)
            if room < min(nonzeros, 1000):
                left_out.append((name, "its factors do not fit the memory of %.3g GB"
                                 % (memory / 1e9)))
                continue
            if room < nonzeros:
                smaller.append((name, "%d nonzeros instead of %d fit the memory of %.3g GB"
                                % (round_down(room), nonzeros, memory / 1e9)))
                nonzeros = round_down(room)
            found.append("%s:%d" % (name, nonzeros))
        return found, left_out, smaller


def nonzeros_of(tensor):
    """Those that its name states; 0 of others."""
    number = (tensor or "").rpartition(":")[2]
    return int(number) if number.isdigit() else 0


class Job:
    """One run of sporades_perf."""

    def __init__(self, part, tensor, threads, round_number, files):
        self.part, self.tensor, self.threads, self.round = part, tensor, threads, round_number
        self.weight = part["weight"]
        if "doubling" in part:
            self.weight *= 1 + nonzeros_of(tensor) / part["doubling"]
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
        if self.part.get("threads", "all") != "all":
            text += ", %d thread%s" % (self.threads, "" if self.threads == 1 else "s")
        return text


def powers_below(threads):
    found, count = [], 1
    while count < threads:
        found.append(count)
        count *= 2
    return found


def thread_counts(part, threads, has_threads):
    """With which numbers of threads a part runs: all of them, or as `threads` of the part says."""
    which = part.get("threads", "all")
    if which == "all":
        return [threads]
    fewer = powers_below(threads) if which == "fewer" else [1]
    return fewer if has_threads else []


def plan(parts, tensors, files, threads, has_threads, rounds):
    """All jobs: round by round, so that what lacks time at the end lacks a second look only."""
    jobs = []
    for round_number in range(rounds):
        for part in parts:
            for tensor in taken(part, tensors):
                for count in thread_counts(part, threads, has_threads):
                    jobs.append(Job(part, tensor, count, round_number,
                                    files if part["tensors"] == "files" else []))
    return jobs


def arguments_by_part(jobs):
    """{part: {tensor or "": arguments}} of all jobs."""
    found = {}
    for job in jobs:
        tensor = os.path.basename(job.tensor or "")
        found.setdefault(job.part["part"], {})[tensor] = " ".join(job.without_paths())
    return found
