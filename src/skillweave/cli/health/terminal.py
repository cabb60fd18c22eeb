"""The terminal: what it can show, and whether its shell completes."""

import sys
from collections.abc import Iterator
from pathlib import Path

from skillweave.cli.completion.shell import SCRIPTS, installed_script, this_shell
from skillweave.cli.health.finding import Finding, Level

TERMINAL = "terminal"


def look_at_terminal(home: Path) -> Iterator[Finding]:
    """What the output can show, and whether completion is set up for this shell."""
    yield _output()
    yield _completion(this_shell(), home)


def _output() -> Finding:
    encoding = (sys.stdout.encoding or "unknown").lower()
    what = "a terminal" if sys.stdout.isatty() else "a pipe or a file"
    if encoding.replace("-", "").startswith("utf"):
        return Finding(TERMINAL, "output", Level.OK, f"{what}, {encoding}")
    message = f"{what}, {encoding}: other letters are shown as escapes"
    return Finding(TERMINAL, "output", Level.MISSING, message, "set PYTHONIOENCODING=utf-8, or a UTF-8 locale")


def _completion(shell: str | None, home: Path) -> Finding:
    if shell is None:
        return Finding(TERMINAL, "completion", Level.MISSING, "this is no shell that completion is known for")
    script = installed_script(shell, home)
    if script is not None:
        return Finding(TERMINAL, "completion", Level.OK, f"set up for {shell} in {script}")
    what = "not set up" if shell in SCRIPTS else "cannot be seen from here"
    return Finding(TERMINAL, "completion", Level.MISSING, f"{shell}: {what}", "skillweave --install-completion")
