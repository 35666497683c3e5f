# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tensors that are measured, written as each library reads them; each file is written once."""
import math
import os
import subprocess

from bench.results import Bad


class Tensor:
    """given: as sporades_perf takes it. dims and nonzeros are what sporades_perf says of it."""

    def __init__(self, given, path, folder):
        self.given, self.name = given, os.path.basename(given)
        self._path, self._folder = path, folder
        self.dims = self.nonzeros = None

    def frostt(self):
        """A file of lines of indices from 1 on, and a value. A library takes the largest index of a
        mode as its length, which may be less than sporades_perf has for a small look-alike."""
        return self._path

    def with_dims(self):
        """The order and the dims come first."""
        return self.file("with-dims.tns", lambda: "%d\n%s\n" % (
            len(self.dims), " ".join(map(str, self.dims))), self._lines())

    def counts(self):
        """Magnitudes are rounded up, as sporades_perf does for CP-APR."""
        return self.file("counts.tns", lambda: "", self._counts())

    def sptensor(self):
        """The text format of Tensor Toolbox, of counts."""
        return self.file("sptensor.txt", lambda: "sptensor\n%d\n%s\n%d\n" % (
            len(self.dims), " ".join(map(str, self.dims)), self.nonzeros), self._counts())

    def file(self, name, head, lines=()):
        """The path of a file of this tensor, written if it is not there yet."""
        path = os.path.join(self._folder, name)
        if not os.path.exists(path):
            with open(path + ".new", "w", encoding="ascii") as file:
                file.write(head())
                file.writelines(lines)
            os.rename(path + ".new", path)
        return path

    def _lines(self):
        """Those of nonzeros, without comments and empty ones."""
        with open(self._path, encoding="ascii", errors="replace") as file:
            for line in file:
                line = line.partition("#")[0].strip()
                if line:
                    yield line + "\n"

    def _counts(self):
        for line in self._lines():
            indices, _, value = line.rpartition(" ")
            yield "%s %d\n" % (indices, math.ceil(abs(float(value))))


def _generate(generator, name, path):
    like, _, nonzeros = name.partition(":")
    command = [generator, "generate", "--like", like, "-q", "-o", path]
    command += ["--nnz", nonzeros] if nonzeros else []
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise Bad("%s: %s" % (generator, error.strerror)) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Bad("%s: %s" % (name, said[-1] if said else "exit status %d" % done.returncode))


def make(names, generator, folder):
    """[Tensor]. Look-alikes are made by `sporades generate`; sporades_perf makes the same tensor by
    its name. Files are read as they are."""
    made = []
    for at, name in enumerate(names):
        own = os.path.join(folder, str(at))
        os.mkdir(own)
        path = os.path.abspath(name)
        if not name.endswith(".tns"):
            path = os.path.join(own, "frostt.tns")
            _generate(generator, name, path)
        elif not os.path.isfile(path):
            raise Bad("there is no file %s" % name)
        made.append(Tensor(path if name.endswith(".tns") else name, path, own))
    return made
