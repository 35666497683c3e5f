#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what sporades_perf would, without measuring: the times follow from the names and a model
of a machine. In the environment:
  FAKE_BACKEND   Cuda: a GPU, 40 times as fast (default: OpenMP)
  FAKE_NOISE     how far samples spread, a share (default: 0.005)
  FAKE_SLOWER    REGEX=FACTOR: benchmarks whose names match take so much longer
  FAKE_WITHOUT   REGEX: benchmarks that do not exist
  FAKE_DELAY     seconds that each benchmark takes (default: 0)
  FAKE_CRASH     REGEX: the program ends with status 3 at the first that matches
"""
import hashlib
import json
import os
import re
import sys
import time

KNOWN = {"uber": (183, 24, 1140, 1717), "nell-2": (12092, 9184, 28818),
         "nips": (2482, 2862, 14036, 17), "chicago-crime": (6186, 24, 77, 32),
         "vast-2015": (165427, 11374, 2, 100, 89)}
MTTKRP = {"automatic": 1.0, "sorted": 1.25, "morton": 1.15, "fibers": 1.05, "csf": 1.6, "alto": 1.1,
          "alto-atomic": 1.5, "flycoo": 2.1, "flycoo-blocks": 4.2, "permuted": 3.0, "atomic": 4.5}
PHI = {"automatic": 1.0, "pull": 1.1, "alto": 1.02, "alto-atomic": 1.4, "coo-alto-atomic": 2.9,
       "coo-alto-pull": 1.3, "atomic": 3.0}
SPTTM = {"automatic": 1.0, "lanes": 1.0, "naive": 2.0, "fine_grained": 3.1, "coalesced": 2.4,
         "rank_blocked": 1.8, "scratch": 2.2, "spmm_rows": 1.1, "spmm_nonzeros": 1.3,
         "spmm_library": 1.9}
SPTV = {"automatic": 1.0, "hocoo": 3.0, "hocsr": 2.0, "cfb": 1.02, "hocfs": 1.0,
        "hocoo_warps": 2.6, "cfb_threads": 1.7, "hocfs_blocks_csr": 1.8, "hocfs_blocks_ell": 1.9,
        "hocfs_blocks:0.25": 1.7, "hocfs_blocks:0.5": 1.6, "hocfs_blocks:0.75": 1.5,
        "hocfs_blocks:0.9": 1.6, "hocfs_blocks:1": 1.75}
BUILD = {"coo_sorted": 3.0, "permuted": 2.0, "packed": 2.5, "csf": 3.4, "alto": 0.8, "flycoo": 5.0,
         "hierarchical": 2.8, "unfolded": 2.9, "hocoo": 2.9, "hocsr": 3.1, "cfb": 3.3, "hocfs": 3.5}

BY_MODE = ("hierarchical", "hocoo", "hocsr", "cfb", "hocfs")
WORDS = {"hocoo": 4, "cfb": 3, "hocfs": 3.5}  # a nonzero, about
TUCKER = {"automatic": 1.0, "gram": 1.2, "lanczos": 1.1, "svd": 9.0, "semi_sparse_svd": 11.0}


def chance(text):
    """A number between 0 and 1 that only depends on the text."""
    return int(hashlib.sha256(text.encode("utf-8")).hexdigest()[:12], 16) / 16.0 ** 12


def options_of(argv):
    found = {"tensors": "uber", "ranks": "16,32", "scalars": "double,float", "files": "",
             "strategies": "automatic,sorted", "benchmark_filter": ".",
             "benchmark_repetitions": "1", "stream-megabytes": "256", "benchmark_format": "console",
             "profile": None}
    for argument in argv:
        name, _, value = argument.lstrip("-").partition("=")
        if name not in found:
            sys.exit("error: unrecognized command-line flag: " + argument)
        found[name] = value
    return found


def tensor_of(name):
    """Short name, dims and nonzeros."""
    short = name.rsplit("/", 1)[-1]
    base, _, nonzeros = short.partition(":")
    dims = KNOWN.get(base, (300, 200, 100))
    return short, dims, int(nonzeros) if nonzeros.isdigit() else 100000


class Maker:
    def __init__(self, options):
        self.gpu = os.environ.get("FAKE_BACKEND", "OpenMP") == "Cuda"
        self.threads = int(os.environ.get("OMP_NUM_THREADS", "4"))
        self.bandwidth = 4e12 if self.gpu else 2.5e10 * self.threads ** 0.7
        self.flops = 3e13 if self.gpu else 4e9 * self.threads
        self.options = options

    def all(self):
        """(name, seconds, bytes, flops, counters, label)"""
        options = self.options
        ranks = [int(rank) for rank in options["ranks"].split(",")]
        for scalar in options["scalars"].split(","):
            size = 4 if scalar == "float" else 8
            yield from self.stream(scalar, float(options["stream-megabytes"]) * 1e6, ranks)
            for tensor in options["tensors"].split(","):
                short, dims, nnz = tensor_of(tensor)
                for rank in ranks:
                    yield from self.products(short + "/" + scalar, dims, nnz, rank, size)
                yield from self.others(short + "/" + scalar, dims, nnz, size)
        for path in filter(None, options["files"].split(",")):
            moved = float(os.path.getsize(path))
            yield "read/" + path.rsplit("/", 1)[-1], moved / 2e8, moved, 0, {}, ""

    def stream(self, scalar, array, ranks):
        for at, (loop, words) in enumerate((("copy", 2), ("scale", 2), ("add", 3), ("triad", 3),
                                            ("multiply", 3))):
            for native in ("", "native_"):
                share = 1 - 0.02 * at if native else 0.99 - 0.02 * at
                yield ("stream/%s%s/%s" % (native, loop, scalar),
                       words * array / share / self.bandwidth, words * array, 0, {}, "")
        for rank in ranks:
            for at, size in enumerate((32, 256, 1024, 2048, 4096, 16384, 65536, 262144)):
                moved = 8e6 * rank * 8
                yield ("gather/%s/R%d/%dKB" % (scalar, rank, size),
                       moved / self.bandwidth / (6 - 0.7 * at), moved, 0, {}, "")

    def product(self, start, end, dims, nnz, rank, size, factor, modes, label=""):
        """Of all modes and of each."""
        N = len(dims)
        one = [nnz * (8 + size) + sum(dims) * rank * size] * N
        flops = [float(N * rank * nnz)] * N
        seconds = [max(b / self.bandwidth, f / self.flops) * factor *
                   (1.3 + 0.4 * chance(start + str(n)))
                   for n, (b, f) in enumerate(zip(one, flops))]
        if modes == "with all":
            yield start + end + "/all", sum(seconds), sum(one), sum(flops), {}, label
        for n in range(N):
            yield start + end + "/mode%d" % n, seconds[n], one[n], flops[n], {}, label.split(" ")[0]

    def products(self, what, dims, nnz, rank, size):
        end = "/R%d" % rank
        for strategy in self.options["strategies"].split(","):
            base, *numbers = strategy.split(":")  # flycoo:82:32
            if base not in MTTKRP:
                yield ("mttkrp/%s/%s%s/all" % (what, strategy, end), None, 0, 0, {},
                       "there is no strategy '%s'" % base)
                continue
            label = " ".join(["fibers" if strategy == "automatic" else strategy] * len(dims))
            yield from self.product("mttkrp/%s/%s" % (what, strategy), end, dims, nnz, rank, size,
                                    MTTKRP[base] * (1.1 if numbers else 1), "with all", label)
            if base == "flycoo-blocks":  # products take 0.8 of the time
                yield from self.product("unmoved/%s/%s" % (what, strategy), end, dims, nnz, rank, size,
                                        0.8 * MTTKRP[base], "")
        yield from self.product("mttkrp_native/%s/atomic" % what, end, dims, nnz, rank, size, 4.2,
                                "with all")
        for strategy, factor in PHI.items():
            yield from self.product("phi/%s/%s" % (what, strategy), end, dims, nnz, rank, size,
                                    1.5 * factor, "with all", "alto")
        for strategy in ("pull", "atomic"):
            yield from self.product("phi_native/%s/%s" % (what, strategy), end, dims, nnz, rank, size,
                                    1.5 * PHI[strategy] * 1.05, "with all")
        yield from self.product("phi/%s/pull_stored_pi" % what, end, dims, nnz, rank, size, 1.9, "")
        yield from self.product("pi/%s/pull_stored_pi" % what, end, dims, nnz, rank, size, 0.9, "")
        vendors = {"spmm_cusparse": 1.7} if self.gpu else {}
        for strategy, factor in {**SPTTM, **vendors}.items():
            if strategy == "spmm_library" and "vast" in what:
                continue
            label = ("lanes " if strategy == "automatic" else "") + "3.1 a fiber"
            for name, seconds, moved, _, counters, words in self.product(
                    "spttm/%s/%s" % (what, strategy), end, dims, nnz, rank, size, 0.6 * factor,
                    "with all", label):
                whole = name.endswith("/all")
                if not whole:
                    counters = {"fiber_length": 3.1, "fiber_deviation": 20 * chance(name[-5:])}
                yield (name, seconds, moved, 2.0 * nnz * rank * (len(dims) if whole else 1), counters,
                       words)
        moved = nnz * rank * size * 0.8
        for strategy, factor in (("semi_sparse", 1.2), ("as_sparse", 2.9), ("chunks", 1.9)):
            yield ("sspttm/%s/%s%s" % (what, strategy, end), factor * moved / self.bandwidth, moved,
                   2.0 * nnz * rank, {}, "")
        for strategy in ("", *("/" + one for one in vendors)):
            yield from self.product("spttm_unfold/" + what + strategy, end, dims, nnz, rank, size, 9.0,
                                    "")
        iteration = len(dims) * nnz * rank * 1.6 / self.flops * len(dims)
        yield "cp_als/%s%s" % (what, end), iteration, 0, 0, {"mttkrp mode 0 ms": 1.0}, ""
        yield "cp_als/%s%s/no_dimension_tree" % (what, end), 1.2 * iteration, 0, 0, {}, ""
        for method, factor in (("mu", 14.0), ("pdnr", 30.0), ("pqnr", 20.0)):
            ms = 1e3 * factor * iteration
            parts = {"kkt_violation ms": 0.05 * ms, "multiply ms": 0.06 * ms, "normalize ms": 0.01 * ms,
                     "log_likelihood ms": 0.03 * ms, "shift_weights ms": 0.005 * ms}
            for n in range(len(dims)):
                parts["phi mode %d ms" % n] = (0.8 - 0.1 * chance(what)) * ms / len(dims)
            yield ("cp_apr/%s%s/%s" % (what, end, method), ms / 1e3, 0, 0,
                   parts if method == "mu" else {}, "")
            if method == "mu":
                stored = {name: 0.7 * one if name.startswith("phi") else one
                          for name, one in parts.items()}
                stored.update({"pi mode %d ms" % n: 0.1 * ms / len(dims) for n in range(len(dims))})
                yield ("cp_apr/%s%s/mu_stored_pi" % (what, end), sum(stored.values()) / 1e3, 0, 0, stored,
                       "")
        ms = 3e-5 * nnz * rank / (10 if self.gpu else 1)
        for method, factor in TUCKER.items():
            yield ("tucker_run/%s%s/%s" % (what, end, method), 1e-3 * factor * ms, 0, 0,
                   {"ttm_chain ms": 0.3 * ms, "singular vectors ms": (factor - 0.5) * ms,
                    "core ms": 0.05 * ms, "preparation ms": 0.15 * ms, "fit": 0.12, "iterations": 3}, "")

    def others(self, what, dims, nnz, size):
        for strategy, factor in SPTV.items():
            if strategy == "cfb" and what.startswith("nell-2"):
                yield "sptv/%s/cfb/mode0" % what, None, 0, 0, {}, "cfb: too many buckets"
                continue
            for n in range(len(dims)):
                moved = nnz * (4.0 + size)
                yield ("sptv/%s/%s/mode%d" % (what, strategy, n), factor * 1.4 * moved / self.bandwidth,
                       moved, 2.0 * nnz, {},
                       "%s, 3.1 a fiber" % ("hocfs" if strategy == "automatic" else strategy))
        for strategy in ("cfb", "hocfs"):
            for streams in (3, 1, 2, 4, 5, 8):
                name = strategy + (":%d" % streams if streams != 3 else "")
                for n in range(len(dims)):
                    seconds = nnz * (4.0 + size) / self.bandwidth * (5 if streams > 2 else 7 - streams)
                    yield ("streamed_sptv/%s/%s/mode%d" % (what, name, n), seconds, nnz * 8.0, 0,
                           {"T_s": 1.2e3 * seconds, "T_p": 1e3 * seconds, "collections": 9.0,
                            "streams": streams}, "")
        for loss in ("gaussian", "poisson", "bernoulli-logit") if size == 8 else ():
            moved = 1.3 * len(dims) * nnz * 30.0
            yield ("loss_gradient/%s/%s/R16/all" % (what, loss), moved / self.bandwidth, 0, 0, {},
                   "missing" if loss == "bernoulli-logit" else "zero")
        for strategy in self.options["strategies"].split(","):
            if strategy == "flycoo":
                moved = len(dims) * nnz * 30.0
                yield "remap/%s/%s/all" % (what, strategy), moved / self.bandwidth, moved, 0, {}, ""
        for n in range(len(dims)):
            for strategy, factor in (("automatic", 1.0), ("semi_sparse", 2.2), ("csf", 1.3),
                                     ("fused", 1.0)):
                moved = nnz * (8.0 + size)
                yield ("ttm_chain/%s/R8/%s/mode:%d" % (what, strategy, n),
                       factor * 3 * moved / self.bandwidth, moved, 300.0 * nnz, {},
                       "fused" if strategy == "automatic" else strategy)
        yield "plan/%s" % what, 60e-9 * nnz / (40 if self.gpu else 1), 0, 0, {"bytes": 49.0 * nnz}, ""
        for name, factor in BUILD.items():
            for n in range(len(dims)) if name in BY_MODE else [None]:
                copies = 1 if n is None else len(dims)
                counters = {"bytes": (10 + 14 * factor) * nnz / copies}
                if name in WORDS and len(dims) == 3:
                    counters["words"] = WORDS[name] * nnz + 2 * (n + 1)
                if name == "hocsr" and n == 2:
                    yield "build/%s/hocsr/mode2" % what, None, 0, 0, {}, "hocsr: too many rows"
                    continue
                yield ("build/%s/%s%s" % (what, name, "" if n is None else "/mode%d" % n),
                       factor * 20e-9 * nnz / copies / (40 if self.gpu else 1), 0, 0, counters, "")
        ms = 90e-6 * nnz / (40 if self.gpu else 1)
        yield ("tucker/%s/R8" % what, 1e-3 * ms, 0, 0,
               {"ttm_chain mode 0 ms": 0.75 * ms, "singular_vectors ms": 0.25 * ms}, "")

    def context(self):
        found = {"date": "2026-01-02T03:04:05+00:00", "host_name": "must-not-be-kept",
                 "executable": "/must/not/be/kept", "num_cpus": 4, "mhz_per_cpu": 2300,
                 "caches": [{"type": "Data", "level": 1, "size": 49152, "num_sharing": 1},
                            {"type": "Unified", "level": 2, "size": 2097152, "num_sharing": 1},
                            {"type": "Unified", "level": 3, "size": 33554432, "num_sharing": 4}],
                 "sporades": "0.0.0", "git": "0123456789ab", "compiler": "GNU 12.2.0",
                 "backend": "Cuda" if self.gpu else "OpenMP", "concurrency": str(self.threads),
                 "kokkos": "Kokkos Version: 4.6.99\nCompiler:\nKOKKOS_COMPILER_GNU: 1220\n"}
        for tensor in self.options["tensors"].split(","):
            short, dims, nnz = tensor_of(tensor)
            found["tensor " + short] = "x".join(map(str, dims)) + " %d" % nnz
        return found


def main():
    options = options_of(sys.argv[1:])
    maker = Maker(options)
    slower, _, factor = os.environ.get("FAKE_SLOWER", "^$=1").rpartition("=")
    noise = float(os.environ.get("FAKE_NOISE", "0.005"))
    print("Kokkos::OpenMP::initialize WARNING: printed to standard output")
    print('{\n  "context": %s,\n  "benchmarks": [' % json.dumps(maker.context()))
    comma = ""
    for name, seconds, moved, flops, counters, label in maker.all():
        if not re.search(options["benchmark_filter"], name + "/iterations:1/manual_time"):
            continue
        if re.search(os.environ.get("FAKE_WITHOUT", "^$"), name):
            continue
        if re.search(os.environ.get("FAKE_CRASH", "^$"), name):
            print("error: out of memory\n\nTraceback functionality not available", file=sys.stderr)
            sys.exit(3)
        time.sleep(float(os.environ.get("FAKE_DELAY", "0")))
        if re.search(slower, name) and seconds:
            seconds *= float(factor)
        for at in range(int(options["benchmark_repetitions"])):
            full = name + "/iterations:1/manual_time"
            one = {"name": full, "run_name": full, "run_type": "iteration", "repetitions": 1,
                   "repetition_index": at, "threads": 1, "iterations": 1, "time_unit": "ms"}
            if seconds is None:
                one.update(error_occurred=True, error_message=label, real_time=0.0, cpu_time=0.0)
            else:
                spread = chance(name + str(at) + str(os.getpid())) + chance(str(at) + name) - 1
                took = seconds * (1 + noise * spread)
                one.update(real_time=1e3 * took, cpu_time=1e3 * took, **counters)
                if options["profile"] is not None:
                    one["profiled"] = 1.0
                if moved:
                    one.update({"bytes/s": moved / took, "of_triad": moved / took / triad_of(maker)})
                if flops:
                    one["flop/s"] = flops / took
                if label:
                    one["label"] = label
            print(comma + "    " + json.dumps(one, indent=6))
            comma = ",\n"
        print(comma + "    " + json.dumps({"name": full + "_mean", "run_name": full,
                                           "run_type": "aggregate", "aggregate_name": "mean",
                                           "real_time": 1.0, "time_unit": "ms"}), flush=True)
    print("  ]\n}")


def triad_of(maker):
    return 0.97 * maker.bandwidth


if __name__ == "__main__":
    main()
