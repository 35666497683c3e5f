# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the modules of other libraries share: what is asked of one, and what it answers."""
import math
import re

from bench.results import MOST

HOST, GPU = "hosts", "GPUs"
COARSE = 20  # units of a printed clock that a time must have: its last digit is then at most 2.5 %


class Unreadable(Exception):
    """What is wrong with the output of a library, in one sentence."""


class Case:
    """What is measured: a tensor of tensors.Tensor, a number of components, and how often."""

    def __init__(self, tensor, rank, threads, calls, on_gpu):
        self.tensor, self.rank, self.threads = tensor, rank, threads
        self.calls, self.on_gpu = calls, on_gpu

    @property
    def order(self):
        return len(self.tensor.dims)


class Sample:
    """Seconds that a library took. kernel: as rows name it; mode: a number, "all" or None; scalar:
    where the library prints its type of values."""

    def __init__(self, kernel, mode, seconds, strategy=None, scalar=None):
        self.kernel, self.mode, self.seconds = kernel, mode, list(seconds)
        self.strategy, self.scalar = strategy, scalar


class Run:
    """One run of a program of a library. kernels: those that it times; arguments: of the command
    line; read(text): [Sample] of what it printed, or throws Unreadable."""

    def __init__(self, program, kernels, arguments, read):
        self.program, self.kernels, self.read = program, kernels, read
        self.arguments = [str(one) for one in arguments]


class Library:
    """name: as rows have it. repository: what the module was written after. programs: in the folder
    that the user gives. scalar: of the values, as the library is built by default. timed: {kernel:
    what its times hold}. runs(case): [Run]. version(text): of what a run printed, or None.
    ask_version: arguments with which the first program prints its version."""

    def __init__(self, name, repository, programs, scalar, timed, runs, version=lambda text: None,
                 places=(HOST,), orders=None, ask_version=None):
        self.name, self.repository, self.programs, self.scalar = name, repository, programs, scalar
        self.timed, self.runs, self.version = timed, runs, version
        self.places, self.orders, self.ask_version = places, orders, ask_version

    def refuses(self, case):
        """Why it cannot be measured, or None."""
        place = GPU if case.on_gpu else HOST
        if place not in self.places:
            return "it runs on %s, and Sporades was built for %s" % (
                " and ".join(self.places), place)
        if self.orders and case.order not in self.orders:
            return "it takes tensors of %s modes" % " or ".join(map(str, self.orders))
        return None


def number(text, what):
    """Of a number that was printed; throws Unreadable where it is none, or no time."""
    try:
        value = float(text)
    except ValueError:
        raise Unreadable("%s is '%s', which is no number" % (what, text)) from None
    if not math.isfinite(value) or value >= MOST:
        raise Unreadable("%s is %s" % (what, text))
    return value


def seconds(text, what, unit=1.0, clock=0.0):
    """Of a printed time; clock: the unit of its last digit, of which it must have COARSE."""
    value = number(text, what)
    if value <= 0:
        raise Unreadable("%s is %s: no time was measured" % (what, text))
    if value < (COARSE - 0.5) * clock:
        raise Unreadable("%s is %s, too short for a clock of %g: more --calls are needed"
                         % (what, text, clock))
    return value * unit


def after_first(total, first, iterations, clock):
    """The mean time of an iteration after the first one, of printed times: of all, of the first."""
    if iterations < 2:
        raise Unreadable("it made one iteration, which warms up")
    rest = number(total, "the time of all iterations") - number(first, "that of the first")
    return seconds("%.6g" % rest, "the time after the first iteration", clock=clock) / (
        iterations - 1)


def found(pattern, text, what):
    """The match of a line; throws Unreadable without one."""
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise Unreadable("it printed no %s" % what)
    return match


def value(pattern, text, what):
    """The first group of a line that matches; throws Unreadable without one."""
    return found(pattern, text, what).group(1)


def every(pattern, text, what, least=1):
    """The groups of all lines that match, at least so many; throws Unreadable with fewer."""
    lines = re.findall(pattern, text, re.MULTILINE)
    if len(lines) < least:
        raise Unreadable("it printed %d of at least %d lines with %s" % (len(lines), least, what))
    return lines


def expect_nonzeros(text, case):
    """Throws Unreadable where it read another number than the tensor has."""
    if int(text) != case.tensor.nonzeros:
        raise Unreadable("it read %s nonzeros of %d" % (text, case.tensor.nonzeros))


def first_group(pattern, text):
    match = re.search(pattern, text, re.MULTILINE)
    return match and match.group(1)
