# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HiParTI (pnnl/HiParTI at 5911484): SpTTM and MTTKRP of coordinates of each mode, by its programs
ttm (on GPUs ttm_gpu) and mttkrp in benchmark/tensor, and SpTV on hosts by drivers/hiparti_ttv.c of
this folder, all in float. What is read is printed by src/sptensor/mmul_omp.c,
mmul_cuda_onekernel.cu and vmul.c, and by the programs, by src/helper_funcs/timer.c."""
import re

from peers import library, parti

TIMED = {"spttm": "`kernel`: the loop alone; `call`: with the output and its indices, mean of 5",
         "mttkrp": "kernel only, on nonzeros sorted for the mode; mean of 5 after one",
         "sptv": "`kernel`: the loop alone, which is serial"}


def read_spttm(text, case, mode):
    check_tensor(text, case)
    kernels = parti.after_first(parti.printed_times(text, parti.label_of(case, "spttm")))
    call = parti.printed_times(text, "GPU SpTTM" if case.on_gpu else "CPU SpTTM")
    return [library.Sample("spttm", mode, kernels, "kernel"),
            library.Sample("spttm", mode, call, "call")]


def check_tensor(text, case):
    library.expect_nonzeros(library.value(r"^DIMS=[\dx]+ NNZ=(\d+)", text, "'DIMS=... NNZ=...'"),
                            case)


def read_mttkrp(text, case):
    check_tensor(text, case)
    return [library.Sample("mttkrp", mode, parti.printed_times(
        text, "CPU SpTns MTTKRP MODE %d" % mode)) for mode in range(case.order)]


def read_sptv(text, case):
    """Of drivers/hiparti_ttv.c: for each mode a line 'mode N', and the library's lines."""
    check_tensor(text, case)
    parts = re.split(r"^mode \d+$", text, flags=re.MULTILINE)[1:]
    if len(parts) != case.order:
        raise library.Unreadable("it printed %d of %d lines 'mode N'" % (len(parts), case.order))
    return [library.Sample("sptv", mode, parti.after_first(parti.printed_times(
        part, "CPU SpTns * Vec")), "kernel") for mode, part in enumerate(parts)]


def runs(case):
    tensor = case.tensor.with_dims()
    # Its default on GPUs, 15, asks for 160000 bytes of shared memory a block and is not launched.
    device = ["-d", 0, "--impl-num=14"] if case.on_gpu else ["-d", -1, "-t", case.threads]
    found = [library.Run("ttm_gpu" if case.on_gpu else "ttm", ("spttm",),
                         ["-i", tensor, "-m", mode, "-r", case.rank] + device,
                         lambda text, mode=mode: read_spttm(text, case, mode))
             for mode in range(case.order)]
    if not case.on_gpu:
        found += [library.Run("mttkrp", ("mttkrp",),
                              ["-i", tensor, "-r", case.rank, "-s", 1, "-u", 1] + device,
                              lambda text: read_mttkrp(text, case)),
                  library.Run("hiparti_ttv", ("sptv",), [tensor, case.calls],
                              lambda text: read_sptv(text, case))]
    return found


LIBRARY = library.Library("HiParTI", "https://github.com/pnnl/HiParTI",
                          ("ttm", "ttm_gpu", "mttkrp", "hiparti_ttv"), "float", TIMED, runs,
                          places=(library.HOST, library.GPU))
