# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ParTI (hpcgarage/ParTI at a520a5a): SpTTM of each mode, by examples/ttm, on GPUs
examples/ttm_gpu, in float. What is read is printed by src/sptensor/mmul_omp.c and mmul_cuda.cu, by
src/timer.c. Its product with a vector, which no program of its calls, is the serial loop that
HiParTI has, too: see hiparti.py.

HiParTI's and PASTA's programs print their times as ParTI's do: printed_times."""
import itertools
import re

from peers import library

KERNEL = {"spttm": "Mtx", "sptv": "Vec"}
MOST_THREADS = 1024  # of a block on GPUs
TIMED = {"spttm": "`kernel`: the loop alone, without the output and its indices"}


def printed_times(text, label):
    """Seconds of the lines '[label]: ... s', whose spaces and capitals differ."""
    words = r"\s+".join(map(re.escape, label.split()))
    times = library.every(r"^\[(?i:%s)\]: (\S+) s$" % words, text, "'[%s]: ... s'" % label)
    return [library.seconds(one, "a time of '%s'" % label, clock=1e-9) for one in times]


def after_first(times):
    """Those of the calls after one that warms up."""
    if len(times) < 2:
        raise library.Unreadable("it printed the time of one call only, which warms up")
    return times[1:]


def label_of(case, kernel):
    return "%s SpTns * %s" % ("CUDA" if case.on_gpu else "OMP", KERNEL[kernel])


def refuse_large_blocks(text):
    """It asks for 32 x R threads a block, and does not look whether the kernel was launched."""
    block = re.search(r"<<<\d+, \((\d+), (\d+)\)", text)
    if block and int(block.group(1)) * int(block.group(2)) > MOST_THREADS:
        raise library.Unreadable("it asked for blocks of %s x %s threads: no kernel ran"
                                 % block.groups())


def read(text, case, mode):
    refuse_large_blocks(text)
    counted = text.partition("Calculating...")
    if not counted[1]:
        raise library.Unreadable("it printed no 'Calculating...'")
    times = printed_times(counted[2], label_of(case, "spttm"))
    return [library.Sample("spttm", mode, times, "kernel")]


def matrix(case, mode):
    """The file of a matrix of I_n x R, each column one after another."""
    rows = case.tensor.dims[mode]
    return case.tensor.file("matrix-%d-%d.txt" % (mode, case.rank),
                            lambda: "2\n%d %d\n" % (case.rank, rows),
                            itertools.repeat("0.5\n", rows * case.rank))


def runs(case):
    device = 0 if case.on_gpu else -1
    return [library.Run("ttm_gpu" if case.on_gpu else "ttm", ("spttm",),
                        [case.tensor.with_dims(), matrix(case, mode), mode, device],
                        lambda text, mode=mode: read(text, case, mode))
            for mode in range(case.order)]


LIBRARY = library.Library("ParTI", "https://github.com/hpcgarage/ParTI", ("ttm", "ttm_gpu"),
                          "float", TIMED, runs, places=(library.HOST, library.GPU))
