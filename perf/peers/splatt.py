# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SPLATT (ShadenSmith/splatt at 6cb8628): MTTKRP of all modes and an iteration of CP-ALS, by
`splatt cpd` with one, two and N tensors in CSF. What is read is printed by src/cmds/splatt_cmds.h
(version), src/stats.c (tensor, storage), src/cpd.c (iterations) and src/timer.c (times, in
milliseconds). `splatt bench` times modes one by one, but no more finely than a millisecond each."""
from peers import library

TIMED = {"mttkrp": "kernel only; mean of the iterations of CP-ALS",
         "cp_als": "mean of an iteration, with its fit"}
UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def scalar_of(text, case):
    """By the bytes of the factors."""
    dims = library.found(r"^DIMS=([\dx]+) NNZ=(\d+)", text, "'DIMS=... NNZ=...'")
    library.expect_nonzeros(dims.group(2), case)
    size = library.found(r" FACTOR-STORAGE=([\d.]+)([KMGT]?B)", text, "'FACTOR-STORAGE=...'")
    values = sum(map(int, dims.group(1).split("x"))) * case.rank
    return "double" if float(size.group(1)) * UNITS[size.group(2)] > 6 * values else "float"


def read(text, case, strategy):
    scalar = scalar_of(text, case)
    fits = library.every(r"^  its = +\d+ \(\S+s\)  fit = (\S+)", text,
                         "'its = N (...s)  fit = ...'")
    library.number(fits[-1], "the fit")
    samples = []
    for kernel, timer in (("mttkrp", "MTTKRP"), ("cp_als", "CPD")):
        total = library.value(r"^  %s +([-.\w]+)s$" % timer, text, "time of '%s'" % timer)
        whole = library.seconds(total, "the time of '%s'" % timer, clock=1e-3)
        samples.append(library.Sample(kernel, "all" if kernel == "mttkrp" else None,
                                      [whole / len(fits)], strategy, scalar))
    return samples


def runs(case):
    return [library.Run("splatt", ("mttkrp", "cp_als"),
                        ["cpd", case.tensor.frostt(), "-r", case.rank, "-t", case.threads,
                         "-i", case.calls, "--tol", 0, "--csf", csf, "--nowrite", "--seed", 1,
                         "-v"],
                        lambda text, csf=csf: read(text, case, "csf_" + csf))
            for csf in ("one", "two", "all")]


def version(text):
    return library.first_group(r"^splatt v(\S+)", text)


LIBRARY = library.Library("SPLATT", "https://github.com/ShadenSmith/splatt", ("splatt",), "double",
                          TIMED, runs, version)
