# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What sporades-bench is given, and what it makes itself to read."""
import os

from bench import results

LINES, LINES_QUICKLY = 2000000, 100000


def command_of(options):
    """The arguments, files without their folders."""
    found = []
    for name in ("paper", "scale", "quick", "budget", "memory", "parts", "tensors", "files", "name"):
        value = getattr(options, name)
        if isinstance(value, list):
            value = [os.path.basename(one) for one in value]
        if value not in (None, False, []):
            found.append("--" + name)
            found += [] if value is True else (
                value if name == "files" else [",".join(value) if isinstance(value, list)
                                               else "%s" % value])
    return found


def written_file(folder, quick):
    """A text file of four modes for the readers, the same on every machine."""
    lines = LINES_QUICKLY if quick else LINES
    path = os.path.join(folder, "generated-%d.tns" % lines)
    state = 1
    try:
        with open(path, "w", encoding="ascii") as file:
            for _ in range(lines):
                state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
                file.write("%d %d %d %d %d.%d\n" % (
                    state % 183 + 1, (state >> 20) % 1140 + 1, (state >> 31) % 1717 + 1,
                    (state >> 42) % 24 + 1, (state >> 48) % 10, (state >> 52) % 1000))
    except OSError as error:  # which names no file if the disk is full
        raise results.Bad("%s: %s" % (path, error.strerror)) from None
    return path


def check(options):
    results.check_output(options.output)
    if not os.path.isfile(options.program):
        raise results.Bad("there is no program %s; build it with -DSPORADES_ENABLE_BENCHMARKS=ON, "
                          "or name it with --program" % options.program)
    seen = set()
    for path in options.files:
        if not os.path.isfile(path):
            raise results.Bad("there is no file %s" % path)
        if "," in path:
            raise results.Bad("%s: sporades_perf takes no names with commas" % path)
        if os.path.basename(path) in seen:
            raise results.Bad("two files are called %s" % os.path.basename(path))
        seen.add(os.path.basename(path))
