# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SPLATT (ShadenSmith/splatt at 6cb8628): MTTKRP of all modes and an iteration of CP-ALS, by
`splatt cpd` with one, two and N tensors in CSF. What is read is printed by src/cmds/splatt_cmds.h
(version), src/stats.c (tensor, storage), src/cpd.c (iterations) and src/timer.c (times, in
milliseconds). `splatt bench` times modes one by one, but no more finely than a millisecond each."""
from peers import library

TIMED = {"mttkrp": "kernel only; mean of the iterations of CP-ALS, the first one included",
         "cp_als": "mean of an iteration after one, with its fit"}
CLOCK = 1e-3  # seconds
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
    lines = library.every(r"^  its = +\d+ \((\S+)s\)  fit = (\S+)", text,
                          "'its = N (...s)  fit = ...'")
    library.number(lines[-1][1], "the fit")
    mttkrp, whole = (library.value(r"^  %s +([-.\w]+)s$" % timer, text, "time of '%s'" % timer)
                     for timer in ("MTTKRP", "CPD"))
    product = library.seconds(mttkrp, "the time of 'MTTKRP'", clock=CLOCK) / len(lines)
    iteration = library.after_first(whole, lines[0][0], len(lines), CLOCK)
    return [library.Sample("mttkrp", "all", [product], strategy, scalar),
            library.Sample("cp_als", None, [iteration], strategy, scalar)]


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
