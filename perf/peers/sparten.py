# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SparTen (sandialabs/sparten at fc2b661, version 1.1.0): Pi, and Phi with it stored or computed on
the fly, of each mode, in double. Its own program times neither apart, so that
drivers/sparten_phi.cpp of this folder calls the library's functions, and prints what is read
here."""
from peers import library

TIMED = {"phi": "kernel only, of the calls after one; `stored_pi`: without the time of Pi; "
                "`reduced_footprint`: our loop after Anderson & Choi (2021), not SparTen's",
         "pi": "kernel only, of the calls after one"}


def read(text, case):
    library.expect_nonzeros(library.value(r"^nonzeros (\d+)$", text, "'nonzeros N'"), case)
    difference = library.value(r"^largest difference (\S+)$", text, "'largest difference ...'")
    if library.number(difference, "the largest difference") > 1e-10:
        raise library.Unreadable("its two ways of Phi differ by %s" % difference)
    lines = library.every(r"^(pi|phi) (stored_pi|reduced_footprint) mode (\d+): (.+)$", text,
                          "'phi stored_pi mode N: ...'", 3 * case.order)
    return [library.Sample(kernel, int(mode), [library.seconds(one, "a time of %s" % kernel)
                                               for one in times.split()], strategy, "double")
            for kernel, strategy, mode, times in lines]


def runs(case):
    return [library.Run("sparten_phi", ("phi", "pi"),
                        [case.tensor.sptensor(), case.rank, case.calls],
                        lambda text: read(text, case))]


def version(text):
    return library.first_group(r"^SparTen (\S+)$", text)


LIBRARY = library.Library("SparTen", "https://github.com/sandialabs/sparten", ("sparten_phi",),
                          "double", TIMED, runs, version)
