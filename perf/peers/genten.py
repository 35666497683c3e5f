# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GenTen (sandialabs/GenTen at 0cd9151): MTTKRP of each mode, by perf_MTTKRP, and an iteration of
CP-ALS, by genten. What is read is printed by performance/Genten_MTTKRP.cpp and
src/Genten_CpAls.cpp. The former has times to a millisecond only, and the throughput, of nnz R (N +
1) operations in units of 2^30, to more digits."""
from peers import library

TIMED = {"mttkrp": "kernel only; mean of the calls after one",
         "cp_als": "mean of an iteration, with its fit and what comes before and after all"}


def read_mttkrp(text, case):
    lines = library.every(r"^\tMode (\d+): average time = (\S+) seconds, "
                          r"throughput = (\S+) GFLOP/s$", text,
                          "'Mode N: average time = ... throughput = ...'", case.order)
    work = case.tensor.nonzeros * case.rank * (case.order + 1) / 2.0 ** 30
    samples = []
    for mode, average, throughput in lines:
        what = "the throughput of mode " + mode
        took = work / library.seconds(throughput, what, clock=1e-3)
        if abs(took - library.number(average, "the time")) > 0.00051 + 0.01 * took:
            raise library.Unreadable("%s is %s GFLOP/s, for %d nonzeros %.6f s and not %s" % (
                what, throughput, case.tensor.nonzeros, took, average))
        samples.append(library.Sample("mttkrp", int(mode), [took]))
    return samples


def read_cp_als(text, _):
    match = library.found(r"^CP-ALS completed (\d+) iterations in (\S+) seconds$", text,
                          "'CP-ALS completed N iterations in ... seconds'")
    library.number(library.value(r"^Final fit = +(\S+)$", text, "'Final fit = ...'"), "the fit")
    whole = library.seconds(match.group(2), "the time of CP-ALS")
    return [library.Sample("cp_als", None, [whole / max(1, int(match.group(1)))])]


def runs(case):
    tensor = ["--input", case.tensor.frostt(), "--index-base", 1]
    return [library.Run("perf_MTTKRP", ("mttkrp",),
                        tensor + ["--nc", case.rank, "--iters", case.calls, "--check", 0],
                        lambda text: read_mttkrp(text, case)),
            library.Run("genten", ("cp_als",),
                        tensor + ["--method", "cp-als", "--rank", case.rank, "--maxiters",
                                  case.calls, "--tol", 0, "--timings"],
                        lambda text: read_cp_als(text, case))]


LIBRARY = library.Library("GenTen", "https://github.com/sandialabs/GenTen",
                          ("perf_MTTKRP", "genten"), "double", TIMED, runs,
                          places=(library.HOST, library.GPU))
