# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of a results file, gathered from what Google Benchmark prints."""
import math

from bench import names, noise

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# Entries of Google Benchmark's JSON; all other numbers are counters of the benchmark.
OWN = {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
       "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "label",
       "error_occurred", "error_message", "aggregate_name", "aggregate_unit"}
DIGITS = 6


def rounded(number):
    return float("%.*g" % (DIGITS, number))


class Recorder:
    """Takes samples as they are measured, and makes the rows of a results file of them."""

    def __init__(self):
        self._rows = {}
        self._samples = {}  # of each row: {round: [benchmarks]}

    def add(self, benchmark, threads, round_number, part):
        """Takes a sample. Gives back whether it is the first one of its row and round. part: of
        the suite."""
        if benchmark.get("run_type") == "aggregate":
            return False
        name = names.without_settings(benchmark.get("run_name", benchmark["name"]))
        key = (name, threads)
        if key not in self._rows:
            self._rows[key] = dict(name=name, **names.parse(name), threads=threads,
                                   part=part["part"])
            self._samples[key] = {}
        rounds = self._samples[key]
        is_new = round_number not in rounds
        rounds.setdefault(round_number, []).append(benchmark)
        return is_new

    def __len__(self):
        return len(self._rows)

    def rows(self, tensors):
        """All rows, in the order of their first samples, with noise bands. tensors: {name: (dims,
        nonzeros)}."""
        done = []
        for key, row in self._rows.items():
            row = dict(row)
            row["dims"], row["nnz"] = tensors.get(row["tensor"], (None, None))
            rounds = [self._samples[key][at] for at in sorted(self._samples[key])]
            _add_times(row, rounds)
            done.append(row)
        noise.set_bands(done)
        return done


def _has_time(benchmark):
    """A clock that is too coarse gives none."""
    return not benchmark.get("error_occurred") and 0 < benchmark["real_time"] < math.inf


def _add_times(row, rounds):
    good = [[one for one in samples if _has_time(one)] for samples in rounds]
    refused = [one.get("error_message", "no time was measured") for samples in rounds
               for one in samples if not _has_time(one)]
    seconds = [[rounded(one["real_time"] * UNITS[one["time_unit"]]) for one in samples]
               for samples in good if samples]
    row["rounds"] = seconds
    if not seconds:
        row["refused"] = refused[0]
        return
    every = [one for samples in good for one in samples]
    times = [one for samples in seconds for one in samples]
    row["median"], row["min"] = rounded(noise.median(times)), min(times)
    if every[0].get("label"):
        row["label"] = every[0]["label"]
    counters = {name: rounded(noise.median([one.get(name, 0.0) for one in every]))
                for name, value in every[0].items()
                if name not in OWN and isinstance(value, (int, float))}
    counters = {name: value for name, value in counters.items() if math.isfinite(value)}
    for name, rate in (("bytes", "bytes/s"), ("flops", "flop/s")):
        if rate in counters:  # rates are per second of each sample; what moves is always the same
            row[name] = rounded(noise.median([one[rate] * one["real_time"] * UNITS[one["time_unit"]]
                                              for one in every]))
    if counters.get("of_triad") and "bytes/s" in counters:
        row["triad"] = rounded(counters["bytes/s"] / counters["of_triad"])
    if "bytes" in counters:
        row["storage_bytes"] = counters["bytes"]
    if "bytes" in row:
        row["bytes_per_second"] = rounded(row["bytes"] / row["median"])
    row["counters"] = {name: value for name, value in counters.items()
                       if name not in ("bytes/s", "flop/s", "of_triad", "bytes", "gathered/s")}
