# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the commands of perf share: options, and how errors are told."""
import os
import sys

from bench.results import Bad


def add_peak(parser):
    parser.add_argument("--peak", action="append", metavar="[MACHINE=]GB/s",
                        help="the bandwidth that the vendor states, of machines with MACHINE in their "
                             "names, or of all (default: as bench/peaks.py has it)")


def add_shown(parser):
    """What is shown where that is one type of values and one number of components."""
    parser.add_argument("--scalar", choices=("double", "float"), default="double",
                        help="the type of values, where one is shown (default: double)")
    parser.add_argument("--rank", type=int, metavar="R",
                        help="the number of components, where one is shown (default: 16, or the least "
                             "that was measured)")


def arguments_text(options):
    """The arguments that decide what a page holds, files without their folders."""
    rank, scalar = getattr(options, "rank", None), getattr(options, "scalar", "double")
    return " ".join([os.path.basename(path) for path in options.results]
                    + ["--peak '%s'" % one for one in options.peak or []]
                    + ["--scalar " + scalar] * (scalar != "double")
                    + (["--rank %d" % rank] if rank else []))


def run(name, main):
    """Ends the program with main's exit status; with 2, and a sentence, on bad input and files that
    cannot be read or written."""
    try:
        sys.exit(main(sys.argv[1:]))
    except Bad as error:
        text = str(error)
    except OSError as error:
        text = ": ".join(one for one in (error.filename, error.strerror) if one)
    print("%s: error: %s" % (name, text), file=sys.stderr)
    sys.exit(2)
