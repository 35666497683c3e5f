# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BLCO (jeewhanchoi/blocked-linearized-coordinate at 1a6e4fc): MTTKRP of each mode and an iteration
of CP-ALS on GPUs, and building its format on their host, by `cpd64` with the kernels that it chooses. These take three or four modes; for
five there is only its plain kernel, which adds up by atomics. Tensors whose indices need more than
64 bits want it built with ALTO_MASK_LENGTH = 128: its `cpd128` may be named in place of the folder.
What is read is printed by src/alto_dev.cu (MTTKRP), src/cpd_gpu.cu (CP-ALS), include/blco.hpp
(building) and src/main.cpp (version, nonzeros, to standard error)."""
from peers import alto, library

AUTOMATIC, ATOMIC = 10, 13  # of its kernels
TIMED = {"mttkrp": "kernel only; mean of the calls, the first one included",
         "cp_als": "an iteration, with its fit; the first one left out",
         "build": "its four steps on the host, without copies to the GPU; once a run"}
STEPS = ("Setup", "Histogram", "Relinearize", "Blocking")  # of building


def refuse_errors(text):
    match = library.first_group(r"(!ERROR!.*)$", text)
    if match:
        raise library.Unreadable("it printed '%s'" % match)


def strategy(case):
    return "atomic" if case.order > 4 else None


def read_build(text):
    steps = [library.number(library.value(r"^BLCO: %s time = (\S+) \(s\)$" % step, text,
                                          "'BLCO: %s time = ...'" % step), "the time of '%s'" % step)
             for step in STEPS]
    return library.Sample("build", None, [library.seconds("%.6f" % sum(steps), "the time of building",
                                                          clock=1e-6)])


def read_mttkrp(text, case, mode):
    refuse_errors(text)
    library.found(r"^--> Start MTTKRP mode %d " % mode, text, "'--> Start MTTKRP mode %d'" % mode)
    total = library.value(r"^Total time for MTTKRP: (\S+) \(time per iter: ", text,
                          "'Total time for MTTKRP: ...'")
    whole = library.seconds(total, "the time of mode %d in milliseconds" % mode, 1e-3, clock=1e-3)
    return [library.Sample("mttkrp", mode, [whole / case.calls], strategy(case)), read_build(text)]


def read_cp_als(text, case):
    refuse_errors(text)
    lines = library.every(r"^--> Iter +\d+: f = (\S+) f-delta = \S+ time = (\S+), \(s\)$", text,
                          "'--> Iter N: f = ... time = ...'", 2)
    library.number(lines[-1][0], "the fit")
    return [library.Sample("cp_als", None, [library.seconds(took, "the time of an iteration")
                                            for _, took in lines[1:]], strategy(case))]


def runs(case):
    common = ["-i", case.tensor.frostt(), "-r", case.rank, "-m", case.calls, "-k",
              ATOMIC if strategy(case) else AUTOMATIC, "-x", 1]
    return [library.Run("cpd64", ("mttkrp", "build"), common + ["-p", "-t", mode],
                        lambda text, mode=mode: read_mttkrp(text, case, mode))
            for mode in range(case.order)] + [
        library.Run("cpd64", ("cp_als",), common + ["-e", "1e-30"],
                    lambda text: read_cp_als(text, case))]


LIBRARY = library.Library(
    "BLCO", "https://github.com/jeewhanchoi/blocked-linearized-coordinate", ("cpd64",), "double",
    TIMED, runs, alto.version, places=(library.GPU,), orders=(3, 4, 5), ask_version=["-v"])
