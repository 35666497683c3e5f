# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How each of the commands begins and ends."""
import os
import sys

from bench.results import Bad


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
