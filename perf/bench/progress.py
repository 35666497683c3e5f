# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One live line on a terminal, plain lines elsewhere; both on standard error."""
import shutil
import sys
import time


def clock(seconds):
    return "%d:%02d" % divmod(int(max(0, seconds)), 60)


class Progress:
    """budget: the seconds that all jobs may take, or None."""

    def __init__(self, budget, jobs):
        self.live = sys.stderr is not None and sys.stderr.isatty()
        self.start = time.monotonic()
        self.budget, self.jobs = budget, jobs
        self.done, self.rows = 0, 0
        self.what = ""

    def begin(self, what):
        self.what = what
        self.show()

    def row(self):
        self.rows += 1
        self.show()

    def show(self):
        """Draws the live line anew."""
        if not self.live:
            return
        line = "%d of %d  %s  %d rows  %s" % (
            self.done + 1, self.jobs, self.what, self.rows, clock(time.monotonic() - self.start))
        line += " of at most " + clock(self.budget) if self.budget else ""
        width = shutil.get_terminal_size().columns - 1
        self._write("\r" + line[:width] + "\x1b[K")

    def end(self, rows, why):
        """A job is over; why: it is not complete, or None."""
        self.done += 1
        if not self.live:
            self.say("%d of %d  %s  %d rows%s  %s" % (
                self.done, self.jobs, self.what, rows, "" if why is None else ", " + why,
                clock(time.monotonic() - self.start)))
        elif why is not None:
            self.say("%s: %s" % (self.what, why))

    def say(self, text):
        """A line that stays."""
        self._write(("\r\x1b[K" if self.live else "") + text + "\n")

    def _write(self, text):
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, AttributeError):
            pass  # nobody reads it any more: what is measured counts
