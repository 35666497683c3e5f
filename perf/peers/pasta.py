# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PASTA (https://gitlab.com/tensorworld/pasta; written after its copy monellz/PASTA-fork at
929ee99): SpTTM, SpTV and MTTKRP of coordinates of each mode, in float, by its programs ttm, ttv and
mttkrp in benchmarks, on GPUs those that end in _gpu. What is read is printed by
src/sptensor/{mmul,vmul,mttkrp}_{omp.c,cuda.cu} and the programs, by src/timer.c."""
from peers import library, parti

TIMED = {"spttm": "`kernel`: the loop alone; `call`: with the output and its indices, mean of 5",
         "sptv": "`kernel`: the loop alone; `call`: with the output and its indices, mean of 5",
         "mttkrp": "kernel only, of the calls after one"}
PROGRAMS = {"spttm": ("ttm", "SpTns * Mtx", "Average CooTtm"),
            "sptv": ("ttv", "SpTns * Vec", "Average CooTtv"),
            "mttkrp": ("mttkrp", "SpTns MTTKRP", None)}


def read(text, case, kernel, mode):
    if "spt_MTTKRPKernelScratch" in text:  # whose launch is a comment
        raise library.Unreadable("it has no kernel for a tensor of %d modes" % case.order)
    _, label, average = PROGRAMS[kernel]
    kernels = parti.after_first(parti.printed_times(
        text, ("Cuda " if case.on_gpu else "Omp ") + label))
    if average is None:
        return [library.Sample(kernel, mode, kernels)]
    return [library.Sample(kernel, mode, kernels, "kernel"),
            library.Sample(kernel, mode, parti.printed_times(text, average), "call")]


def runs(case):
    found = []
    for kernel, (program, _, _) in PROGRAMS.items():
        rank = [] if kernel == "sptv" else ["-r", case.rank]
        found += [library.Run(program + "_gpu" * case.on_gpu, (kernel,),
                              ["-i", case.tensor.with_dims(), "-m", mode,
                               "-d", 0 if case.on_gpu else -1] + rank,
                              lambda text, kernel=kernel, mode=mode: read(text, case, kernel, mode))
                  for mode in range(case.order)]
    return found


LIBRARY = library.Library(
    "PASTA", "https://gitlab.com/tensorworld/pasta",
    tuple(program + end for program, _, _ in PROGRAMS.values() for end in ("", "_gpu")), "float",
    TIMED, runs, places=(library.HOST, library.GPU))
