# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the commands of perf share: options, and how errors are told."""
import argparse
import os
import sys

from bench.results import Bad


def add_peak(parser):
    parser.add_argument("--peak", action="append", metavar="[MACHINE=]GB/s",
                        help="the bandwidth that the vendor states, of machines with MACHINE in their "
                             "names, or of all (default: as bench/peaks.py has it)")


def add_shown(parser):
    """What is shown where that is one type of values and one number of components."""
    parser.add_argument("--scalar", choices=("double", "float"),
                        help="the type of values, where one is shown (default: double, or float where "
                             "nothing else was measured)")
    parser.add_argument("--rank", type=int, metavar="R",
                        help="the number of components, where one is shown (default: 16, or the least "
                             "that was measured)")


def listed(text):
    return [one for one in text.split(",") if one]


def some(text):
    """A list with something in it."""
    if not listed(text):
        raise argparse.ArgumentTypeError("there is nothing in the list '%s'" % text)
    return listed(text)


def count(text):
    if not text.isdigit() or not 0 < int(text) < 1000000:
        raise argparse.ArgumentTypeError("'%s' is no number from 1 to 999999" % text)
    return int(text)


def counts(text):
    return [count(one) for one in some(text)]


def without_suite(options):
    """Sets what session.Session asks of sporades-bench's options and this command has not."""
    options.quick = options.memory = options.parts = options.files = None
    options.paper = options.scale = None


def given(options, *names):
    """Options as they are given, files in lists without their folders."""
    found = []
    for name in names:
        value = getattr(options, name)
        if isinstance(value, list):
            value = ",".join(os.path.basename(str(one)) for one in value)
        found += ["--" + name, str(value)] if value is not None else []
    return found


def arguments_text(options):
    """The arguments that decide what a page holds, files without their folders."""
    rank, scalar = getattr(options, "rank", None), getattr(options, "scalar", None)
    return " ".join([os.path.basename(path) for path in options.results]
                    + ["--peak '%s'" % one for one in options.peak or []]
                    + (["--scalar " + scalar] if scalar else [])
                    + (["--rank %d" % rank] if rank else [])
                    + ["--summary"] * getattr(options, "summary", False))


def run(name, main):
    """Ends the process with the exit status that main(arguments) gives; bad input is said in a
    line."""
    if sys.stdout is not None:  # as where it was closed
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # in any locale
    try:
        status = main(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read has enough, as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except (Bad, OSError) as error:
        words = error if isinstance(error, Bad) else "%s: %s" % (
            error.filename or "standard output", error.strerror)
        print("%s: error: %s" % (name, words), file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
