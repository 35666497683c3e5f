# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of perf's commands share."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
PERF = os.path.join(HERE, "..", "..", "perf")
FAKE = os.path.join(HERE, "fake_sporades_perf.py")
DATA = os.path.join(HERE, "..", "data", "bench-results.json")
MEASURED = os.path.join(HERE, "..", "data", "bench-results-spttm.json")


def has_matplotlib(python):
    return subprocess.run([python, "-c", "import matplotlib"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def drawing_python():
    """An interpreter that has matplotlib, or None."""
    for python in (sys.executable, shutil.which("python3", path="/usr/bin")):
        if python and has_matplotlib(python):
            return python
    return None


def command(name, *arguments, python=sys.executable):
    return [python, os.path.join(PERF, name)] + [str(one) for one in arguments]


class Folder(unittest.TestCase):
    """Each test works in an empty folder."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sporades-perf-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_command(self, status, name, *arguments, python=sys.executable, **environment):
        """Runs it and gives back (stdout, stderr)."""
        found = subprocess.run(command(name, *arguments, python=python), cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=dict(os.environ, **environment))
        out, err = found.stdout.decode("utf-8"), found.stderr.decode("utf-8")
        self.assertEqual(found.returncode, status, "%s %s\n%s%s" % (name, arguments, out, err))
        self.assertNotIn("Traceback", err)
        return out, err

    def measure(self, name, *arguments, status=0, **environment):
        """Runs sporades-bench with the fake program; gives back (results, stderr)."""
        if "--budget" not in arguments:
            arguments += ("--budget", "900")  # enough on a busy machine
        _, err = self.run_command(status, "sporades-bench", "--program", FAKE, "--output",
                                  self.path(name), *arguments, OMP_NUM_THREADS="4", **environment)
        return self.load(name), err

    def load(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def save(self, name, results):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(results, file, ensure_ascii=False)
        return self.path(name)

    def assert_no_litter(self):
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])


def rows_by_name(results):
    return {(row["name"], row["threads"]): row for row in results["rows"]}
