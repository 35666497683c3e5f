# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs sporades_perf and reads what it prints while it runs."""
import codecs
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time


LATE = "its share of the time was over"


class Stopped(Exception):
    """The user, or the system, asked for the end."""


class Reader:
    """Takes Google Benchmark's JSON piece by piece. Each piece gives the benchmarks that are
    complete with it; context is set once that has come."""

    def __init__(self):
        self.context = None
        self._text = ""
        self._decoder = json.JSONDecoder()

    def take(self, piece):
        self._text += piece
        if self.context is None and not self._take_context():
            return []
        found = []
        while True:
            self._text = self._text.lstrip(" \t\r\n,")
            if not self._text.startswith("{"):
                return found
            try:
                one, end = self._decoder.raw_decode(self._text)
            except json.JSONDecodeError:
                return found  # not all of it is there
            found.append(one)
            self._text = self._text[end:]

    def _take_context(self):
        head, mark, rest = self._text.partition('"benchmarks": [')
        if not mark:
            return False
        # Kokkos may have printed warnings before
        head = head[("\n" + head).rfind("\n{"):]
        try:
            self.context = dict(json.loads(head + '"benchmarks": []}')["context"])
        except (ValueError, KeyError, TypeError):
            return False  # another program, whose words these are
        self._text = rest
        return True


def _end(child):
    """Asks the child and what it has started to end, and makes them after two seconds."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(2)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def ending(returncode, said):
    """In words why a program did not end well, by its exit status and standard error; or None."""
    if returncode < 0:
        return "ended by signal %s" % signal.Signals(-returncode).name
    if returncode > 0:
        lines = [line for line in said.splitlines() if line.strip()]
        # Kokkos may say more after the error
        return next((line for line in reversed(lines) if "error" in line.lower()),
                    lines[-1] if lines else "exit status %d" % returncode)
    return None


def run(program, arguments, environment, deadline, on_context, on_row, on_wait, stop):
    """Runs the program until it ends, or deadline (of time.monotonic), or stop() is true, which
    raises Stopped. on_context gets Google Benchmark's context, on_row each benchmark as it is
    printed; on_wait is called twice a second. Gives back in words why the program did not come to
    its end, or None."""
    errors = tempfile.TemporaryFile()
    child = subprocess.Popen([program] + arguments + ["--benchmark_format=json"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                             env=dict(os.environ, **environment), start_new_session=True)
    reader, decoder = Reader(), codecs.getincrementaldecoder("utf-8")("replace")
    late = False
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while True:
                if stop():
                    raise Stopped()
                late = time.monotonic() > deadline
                if late:
                    break
                if not selector.select(0.5):
                    on_wait()
                    continue
                piece = os.read(child.stdout.fileno(), 1 << 16)
                if not piece:
                    break
                found = reader.take(decoder.decode(piece))
                if on_context and reader.context is not None:
                    on_context(reader.context)
                    on_context = None
                for row in found:
                    on_row(row)
        if not late:
            child.wait()
    finally:
        _end(child)
        child.stdout.close()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
        errors.close()
    return LATE if late else ending(child.returncode, said)
