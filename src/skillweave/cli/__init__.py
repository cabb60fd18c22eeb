"""The command line: thin commands around the engine, one file each."""

import sys


def main() -> None:
    """Run `skillweave` with the arguments of this process, and leave with its exit code."""
    from skillweave.cli.entry import run

    sys.exit(run(sys.argv[1:]))
