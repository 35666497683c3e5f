# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MM-CSF (isratnisa/MM-CSF at d31540c): MTTKRP of each mode on GPUs, in float, by `mttkrp -t 12`
with the options of its README. What is read is printed by MTTKRP_MIHCSR_GPU in src/mttkrp_gpu.cu;
each kernel runs once, after no other, so that rounds are its only repetitions."""
from peers import library

TIMED = {"mttkrp": "kernel only; one call, the first one"}


def read(text, case):
    library.expect_nonzeros(library.value(r"^Total GPU time: \S+ nSlc:.* nnz:(\d+)", text,
                                          "'Total GPU time: ...'"), case)
    modes = library.every(r"MI-HCSR-GPU-mode (\d+) : ([^,\s]+),$", text, "'MI-HCSR-GPU-mode ...'",
                          case.order)
    return [library.Sample("mttkrp", int(mode), [library.seconds(
        took, "the time of mode %s in milliseconds" % mode, 1e-3)], scalar="float")
        for mode, took in modes]


def runs(case):
    return [library.Run("mttkrp", ("mttkrp",),
                        ["-i", case.tensor.with_dims(), "-m", 0, "-R", case.rank, "-t", 12,
                         "-f", 128, "-w", 1, "-v", 1], lambda text: read(text, case))]


LIBRARY = library.Library("MM-CSF", "https://github.com/isratnisa/MM-CSF", ("mttkrp",), "float",
                          TIMED, runs, places=(library.GPU,), orders=(3, 4))
