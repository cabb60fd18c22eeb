"""From arguments to an exit code: the one place where answers are printed and failures become one line."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

from skillweave.cli.arguments.skills import interruptible
from skillweave.cli.completion import PROGRAM, VARIABLE
from skillweave.cli.failure import MISTAKE, Problem, failure_in_json, failure_of, wants_json
from skillweave.cli.output.page import Answer, Stream, page_for, printable
from skillweave.errors import SkillweaveError
from skillweave.redaction import without_secrets

BROKEN_PIPE = 141
"""The exit code of a command whose reader went away, as shells give it for SIGPIPE."""


def run(arguments: Sequence[str]) -> int:
    """Runs one command, prints its answer, and returns the exit code (see `app.CODES`; 130 interrupted, 141 unread)."""
    if os.environ.get(VARIABLE):
        return _completed()
    with interruptible(), _open_streams():
        try:
            code = _answered(list(arguments) or ["--help"])
            sys.stdout.flush()
        except BrokenPipeError:
            _abandon_stdout()
            return BROKEN_PIPE
        except OSError as error:
            _abandon_stdout()
            _say(f"the output cannot be written: {error.strerror or error}; write it to another place")
            return MISTAKE
    return code


def _completed() -> int:
    """Offer completions; whatever goes wrong, nothing is said: it would stand in the middle of what somebody types."""
    from skillweave.cli.app import command

    with Path(os.devnull).open("w") as nothing, redirect_stderr(nothing):
        try:
            command().main([], prog_name=PROGRAM, standalone_mode=False)
        except Exception:  # noqa: BLE001 - see above; code 1 lets the shell offer file names
            return MISTAKE
    return 0


def _answered(arguments: list[str]) -> int:
    import typer

    from skillweave.cli.app import command

    as_json = wants_json(arguments)
    try:
        width = page_for(sys.stdout).width - 2
        result = command().main(arguments, prog_name=PROGRAM, standalone_mode=False, terminal_width=width)
        if not isinstance(result, Answer | Stream):
            return result if isinstance(result, int) else 0
        text = _laid_out(result, as_json=as_json) if isinstance(result, Answer) else ""
    except BrokenPipeError:
        raise
    except (SkillweaveError, typer.TyperException, OSError, UnicodeError) as error:
        notes = (*getattr(error, "__notes__", ()), *_strange_variables())
        return _failed(failure_of(error), notes, as_json=as_json)
    if isinstance(result, Stream):
        return _streamed(result.answers, as_json=as_json)
    _print(text)
    for note in (*result.notes, *_strange_variables()):
        _say(note)
    return result.code


def _laid_out(answer: Answer, *, as_json: bool, indent: int | None = 2) -> str:
    return answer.as_json(indent) if as_json else answer.text(page_for(sys.stdout)).rstrip("\n")


def _streamed(answers: Iterator[Answer], *, as_json: bool) -> int:
    for note in _strange_variables():
        _say(note)
    while True:
        try:
            answer = next(answers, None)
            if answer is None:
                return 0
            text = _laid_out(answer, as_json=as_json, indent=None)
        except BrokenPipeError:
            raise
        except (SkillweaveError, OSError, UnicodeError) as error:
            return _failed(failure_of(error), indent=None, as_json=as_json)
        _print(text)
        for note in answer.notes:
            _say(note)


def _failed(failure: Problem, notes: Sequence[str] = (), *, indent: int | None = 2, as_json: bool) -> int:
    if as_json:
        _print(failure_in_json(failure, indent))
    for line in (failure["message"], *notes):
        _say(line)
    return failure["exit_code"]


def _strange_variables() -> Iterator[str]:
    if any(name.startswith("SKILLWEAVE_") for name in os.environ):
        from skillweave.cli.configuration import strange_variables

        yield from strange_variables(os.environ)


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _say(line: str) -> None:
    sys.stderr.write(f"skillweave: {without_secrets(' '.join(printable(line).splitlines()))}\n")


@contextmanager
def _open_streams() -> Iterator[None]:
    """Whatever a skill's text holds, a terminal that cannot show it must not end the command."""
    with Path(os.devnull).open("w") as nothing, Path(os.devnull).open() as silence:
        sys.stdout, sys.stderr = sys.stdout or nothing, sys.stderr or nothing
        sys.stdin = sys.stdin or silence
        for stream in (sys.stdout, sys.stderr):
            getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
        yield


def _abandon_stdout() -> None:
    """Let the interpreter flush into nothing on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
