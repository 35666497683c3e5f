# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program of another library, and finds out which one it is."""
import os
import signal
import subprocess
import tempfile
import time

from bench import program

MOST_TEXT = 1 << 26  # bytes of output that are read


def _end(child):
    """Ends the program and what it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            break
        try:
            child.wait(2)
            break
        except subprocess.TimeoutExpired:
            pass
    child.wait()


def _text(file):
    file.seek(0)
    return file.read(MOST_TEXT).decode("utf-8", "replace")


def run(command, environment, seconds, folder, stop):
    """What it printed to standard output and to standard error, and in words why it did not come to
    its end, or None. Raises program.Stopped where stop() is true."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     cwd=folder, env=dict(os.environ, **environment),
                                     start_new_session=True)
        except OSError as error:
            return "", error.strerror
        deadline = time.monotonic() + seconds
        try:
            while child.poll() is None:
                if stop():
                    raise program.Stopped()
                if time.monotonic() > deadline:
                    return "", "it took more than %g s" % seconds
                try:
                    child.wait(0.1)
                except subprocess.TimeoutExpired:
                    pass
        finally:
            if child.poll() is None:
                _end(child)
        said = _text(err)
        return _text(out) + said, program.ending(child.returncode, said)


def _git(folder, *arguments):
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20,
                              check=True)
        return done.stdout.decode("utf-8", "replace").strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def commit(path):
    """Of the repository that the program lies in, with "-dirty" where files of it were changed; or
    None where there is none, or it is ours."""
    folder = os.path.dirname(os.path.realpath(path))
    own = _git(os.path.dirname(os.path.abspath(__file__)), "rev-parse", "--show-toplevel")
    top = _git(folder, "rev-parse", "--show-toplevel")
    found = _git(folder, "rev-parse", "--short=12", "HEAD")
    if not found or top == own:
        return None
    is_changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return found + "-dirty" * bool(is_changed)
