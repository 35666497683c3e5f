# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ALTO (IntelLabs/ALTO at 8e174d6): building, MTTKRP of all modes, an iteration of CP-ALS, and an outer
iteration of CP-APR with ten inner ones and its Phi, by `cpd64`. What is read is printed by
src/main.cpp (version, MTTKRP), include/cpd.hpp (CP-ALS), include/apr.hpp (CP-APR) and
include/alto.hpp (type of values)."""
from peers import library

OUTER, INNER = 5, 10
TIMED = {"mttkrp": "kernel only; mean of the calls after one",
         "build": "once a run",
         "cp_als": "mean of an iteration after one, with its fit",
         "cp_apr": "mean of an outer iteration of ten inner ones, without the log-likelihood",
         "phi": "kernel only; mean of the calls in CP-APR; with `stored_pi` a tenth of Pi"}
PHI = {"OTF": "on_the_fly", "PRE": "stored_pi"}


def scalar_of(text, case):
    library.expect_nonzeros(library.value(r"^NNZ +=\s*(\d+)", text, "'NNZ = ...'"), case)
    kind = library.value(r"^Sparse Value Type: +(\S+)", text, "'Sparse Value Type: ...'")
    if kind not in ("FP32", "FP64"):
        raise library.Unreadable("its type of values is %s" % kind)
    return "double" if kind == "FP64" else "float"


def read_mttkrp(text, case):
    total = library.value(r"^ALTO runtime: +(\S+)$", text, "'ALTO runtime: ...'")
    whole = library.seconds(total, "the runtime", clock=1e-6)
    scalar = scalar_of(text, case)
    built = library.value(r"^ALTO creation time: +(\S+)$", text, "'ALTO creation time: ...'")
    return [library.Sample("mttkrp", "all", [whole / case.calls], scalar=scalar),
            library.Sample("build", None, [library.seconds(built, "the time of building", clock=1e-6)],
                           scalar=scalar)]


def read_cp_als(text, case):
    lines = library.every(r"^it: \d+\t fit: (\S+)\t.*: (\S+) s \(\S+ s\)$", text,
                          "'it: N  fit: ...'")
    library.number(lines[-1][0], "the fit")
    total = library.value(r"^Total time \(for MTTKRP\):\s+(\S+) s", text, "'Total time ...'")
    took = library.after_first(total, lines[0][1], len(lines), 1e-4)
    return [library.Sample("cp_als", None, [took], scalar=scalar_of(text, case))]


def read_cp_apr(text, case):
    scalar = scalar_of(text, case)
    way = library.value(r"^\tPHI update mode: +(OTF|PRE)$", text,
                        "'PHI update mode: OTF' or 'PRE', without which its choice depends on a "
                        "variable that is not set")
    outer = int(library.value(r"^  Total outer iterations = (\d+)$", text,
                              "'Total outer iterations = ...'"))
    if outer != OUTER:
        raise library.Unreadable("it made %d of %d outer iterations" % (outer, OUTER))
    library.number(library.value(r"^  Final log-likelihood = (\S+)$", text,
                                 "'Final log-likelihood = ...'"), "the log-likelihood")
    total = library.value(r"^CP-APR main iteration time  = (\S+) \(s\)$", text,
                          "'CP-APR main iteration time = ...'")
    whole = library.seconds(total, "the time of CP-APR", clock=1e-6)
    samples = [library.Sample("cp_apr", None, [whole / outer], "mu", scalar)]
    times = library.every(r"^\tPhi Time Mode (\d+) = (\S+) \(s\)$", text, "'Phi Time Mode ...'",
                          case.order)
    for at, took in times:
        whole = library.seconds(took, "the time of Phi of mode " + at, clock=1e-6)
        samples.append(library.Sample("phi", int(at), [whole / outer / INNER], PHI[way], scalar))
    return samples


def runs(case):
    common = ["-r", case.rank, "-x", 1]
    als = ["-i", case.tensor.frostt(), "-m", case.calls, "-l", "als"] + common
    apr = ["-i", case.tensor.counts(), "-m", OUTER, "-n", INNER, "-l", "apr"] + common
    return [library.Run("cpd64", ("mttkrp", "build"), als + ["-p"], lambda text: read_mttkrp(text, case)),
            library.Run("cpd64", ("cp_als",), als + ["-e", "1e-30"],
                        lambda text: read_cp_als(text, case)),
            library.Run("cpd64", ("cp_apr", "phi"), apr + ["-p"],
                        lambda text: read_cp_apr(text, case))]


def version(text):
    return library.first_group(r" version (\d[\d.]*)\s*$", text)


LIBRARY = library.Library("ALTO", "https://github.com/IntelLabs/ALTO", ("cpd64",), "double", TIMED,
                          runs, version, orders=(3, 4, 5), ask_version=["-v"])
