"""Turn any command into a probe for `git bisect run`: 0 good, 1 bad, 125 cannot tell.

Copy it out of the working tree first; bisecting checks out commits that do not have it.
"""

import argparse
import re
import shlex
import subprocess
import sys

GOOD, BAD, SKIP = 0, 1, 125


def run(command: list[str], timeout: float) -> tuple[int | None, str]:
    """Exit status and output of a command; the status is None when it ran out of time."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def verdict(status: int | None, output: str, bad_pattern: str | None, on_timeout: int) -> int:
    """GOOD, BAD or SKIP for one run; with a pattern only a match is BAD and another failure is SKIP."""
    if status is None:
        return on_timeout
    if bad_pattern is not None:
        if re.search(bad_pattern, output):
            return BAD
        return GOOD if status == 0 else SKIP
    return GOOD if status == 0 else BAD


def probe(command: list[str], options: argparse.Namespace) -> int:
    """GOOD if every repetition is, otherwise the first other verdict."""
    on_timeout = BAD if options.timeout_is_bad else SKIP
    for attempt in range(1, options.repeat + 1):
        status, output = run(command, options.timeout)
        answer = verdict(status, output, options.bad_pattern, on_timeout)
        if answer != GOOD:
            shown = "time limit" if status is None else f"status {status}"
            print(f"run {attempt} of {options.repeat}: {shown}", file=sys.stderr)
            return answer
    return GOOD


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [options] -- COMMAND [ARGUMENT ...]",
    )
    made.add_argument("--build", metavar="COMMAND", help="run this first; if it fails, the commit is skipped")
    made.add_argument("--repeat", type=int, default=1, help="clean runs needed for 'good' (default 1)")
    made.add_argument("--timeout", type=float, default=300, help="seconds for each run (default 300)")
    made.add_argument("--timeout-is-bad", action="store_true", help="a run over the limit is bad instead of skipped")
    made.add_argument("--bad-pattern", metavar="REGEX", help="only this output is bad; other failures are skipped")
    made.add_argument("command", nargs="+", help="the command to judge, after --")
    return made


def main() -> int:
    """Build, run, judge; errors of the probe itself are 128, which ends the bisection."""
    options = parser().parse_args()
    try:
        if options.build:
            status, output = run(shlex.split(options.build), options.timeout)
            if status != 0:
                print(f"build failed, skipped\n{output[-2000:]}", file=sys.stderr)
                return SKIP
        return probe(options.command, options)
    except FileNotFoundError as error:
        # A tool that this commit does not have yet says nothing about the fault.
        print(f"{error.filename}: not found, skipped", file=sys.stderr)
        return SKIP
    except (OSError, ValueError, re.error) as error:
        print(f"probe: {error}", file=sys.stderr)
        return 128


if __name__ == "__main__":
    sys.exit(main())
