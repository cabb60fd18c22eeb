"""The command line: thin commands around the engine, one file each."""

import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run `skillweave` with the arguments of this process, and leave with its exit code."""
    # A command makes many values and drops few: looking for circles among them costs a tenth of its time. And none
    # multiplies matrices so large that the threads, which the library starts when it is loaded, would pay.
    gc.set_threshold(100_000)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from skillweave.cli.entry import run

    code = run(sys.argv[1:])
    # All is written and closed; taking every module and value apart one by one would take as long as loading them.
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
