"""The terminal's side of a conversation: reading what is said, asking a person to decide, and a line for each turn."""

import json
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skillweave.cli.arguments.reading import input_lines
from skillweave.cli.arguments.turn import decoded
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Ink, Page, listed, page_for, printable, tokens_shown
from skillweave.cli.output.turn import checkpoint_text, decisions_text, way_text

if TYPE_CHECKING:
    from skillweave.cli.chat_agent import Talk
    from skillweave.cli.output.turn import Told

PROMPT = "> "
_VERDICTS = {"a": "approved", "approve": "approved", "r": "rejected", "reject": "rejected"}
_VERDICTS_ON_CALLS = {**_VERDICTS, "m": "modified", "modify": "modified"}
COMMANDS = "/why says what was decided about the last message, /skills lists the skills, /quit ends the conversation"


def piped() -> Iterator[str]:
    """What standard input says, line by line, without the empty ones; raises Mistake for no UTF-8 and for too much."""
    for line in input_lines("a message"):
        if text := decoded(line, "standard input").strip():
            yield text


def typed(talk: "Talk", last: Sequence["Told"]) -> Iterator[str]:
    """What a person types, until /quit or the end of input; other commands are answered here.

    `last` holds what became of the last message.
    """
    say(f"{COMMANDS}\n", Ink.FAINT)
    while (line := _line()) is not None and (text := line.strip()) != "/quit":
        try:
            text = decoded(text.encode("utf-8", "surrogateescape"), "the line")
        except Mistake as error:
            say(f"skillweave: {error}\n")
            continue
        if answer := command_answer(text, talk, last):
            say(f"{answer}\n")
        elif text:
            yield text


def command_answer(text: str, talk: "Talk", last: Sequence["Told"]) -> str:
    """What a command of the prompt prints; nothing for what is said to the model."""
    page = page_for(sys.stderr)
    if text == "/why":
        decisions = last[-1].decisions if last else ()
        return "\n".join(decisions_text(decisions, page)) or "No skill was considered yet."
    if text == "/skills":
        snapshot = talk.weaver.sync.skills.snapshot()
        return "\n".join(page.entry(skill.id, skill.description or "") for skill in snapshot.active())
    if text.startswith("/") and text[1:].isalpha():
        return f"{text[:40]} is no command: {COMMANDS}."
    return ""


def summary(told: "Told") -> str:
    """What was done for one message, in one line."""
    given = [f"{one.skill_id} ({one.reason}), {tokens_shown(one.tokens or 0)}" for one in told.given]
    new = {one.skill_id for one in told.given}
    there = [skill_id for skill_id in told.context if skill_id not in new]
    moved = [f"{way_text(step.from_skill, step.to_skill)} ({step.by})" for step in told.moved]
    parts = [
        f"moved {listed(moved)}" if moved else "",
        f"given {listed(given)}" if given else "",
        f"in the context {listed(there)}" if there else "",
        f"blocked {listed(f'{one.tool} ({one.code})' for one in told.blocked)}" if told.blocked else "",
    ]
    if not any(parts):
        parts = ["no skill"]
    return printable("; ".join(part for part in [*parts, *_at_the_end(told)] if part))


def fitted_to_terminal(line: str) -> str:
    """The line in several where the terminal is narrower; elsewhere it stays one that can be searched."""
    return page_for(sys.stderr).wrap(line) if sys.stderr.isatty() else line


def _at_the_end(told: "Told") -> Iterator[str]:
    """What stood at the end of the call: the skills offered there, or another text about the skills."""
    if told.offered:
        yield f"offered {listed(told.offered)} at the end of the call, {tokens_shown(told.tail_tokens)}"
    elif told.tail_tokens:
        yield f"said which skills there are at the end of the call, {tokens_shown(told.tail_tokens)}"


def trouble(told: "Told") -> Iterator[str]:
    """What its user must know beside the skills: that the ledger did not keep what was done."""
    from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE

    if {LEDGER_UNAVAILABLE, DECISIONS_NOT_KEPT} & set(told.diagnostics):
        yield (
            "the ledger does not answer, so nothing of this is kept, and what was decided earlier may not hold; "
            "check that you can write to it, then start again"
        )


def ask_person(question: Mapping[str, Any]) -> Mapping[str, object]:
    """Ask whoever sits at the terminal; raises Mistake where nobody does, or nobody answers."""
    from skillweave.injection import PendingCheckpoint

    pending = [PendingCheckpoint.from_dict(one) for one in question["checkpoints"]]
    call: Mapping[str, Any] | None = question.get("call")
    if not sys.stdin.isatty():
        raise _undecided(question["conversation"], pending[0], call)
    page = page_for(sys.stderr)
    if problem := question.get("problem"):
        say(f"{page.entry('not taken', str(problem), Ink.WARN)}\n")
    for one in pending:
        say(f"{checkpoint_text(one, page, of=one.skill_id)}\n")
    if call is not None:
        shown = f"{call['tool']} {json.dumps(call['arguments'], ensure_ascii=False)}"
        say(f"{page.entry('call', printable(shown))}\n")
    verdict, prompt = "", "approve or reject? [a/r] " if call is None else "approve, reject or modify? [a/r/m] "
    while not verdict:
        verdict = (_VERDICTS if call is None else _VERDICTS_ON_CALLS).get(_asked(prompt).lower(), "")
    name = _user()
    by = _asked(f"your name{f' [{name}]' if name else ''}: ") or name
    if call is None:
        return {"verdict": verdict, "by": by}
    about = {"verdict": verdict, "by": by, "call": call["id"]}
    if verdict == "modified":
        return {**about, "arguments": _object()}
    # What a person says to a no is the tool's answer, so the model hears it.
    return {**about, "note": _asked("why, for the model (may be empty): ")} if verdict == "rejected" else about


def _object() -> dict[str, Any]:
    """The new arguments of a call, asked for until they are a JSON object."""
    while True:
        try:
            found = json.loads(_asked("all arguments, as JSON: "))
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found


def say(text: str, ink: Ink | None = None) -> None:
    """Text beside the conversation, on stderr."""
    page: Page = page_for(sys.stderr)
    sys.stderr.write(page.paint(text, ink) if ink else text)
    sys.stderr.flush()


def _line() -> str | None:
    """What is typed at the prompt; None at the end of input."""
    if not sys.stdout.isatty():  # `input` would write its prompt among the answers
        say(PROMPT)
        return sys.stdin.readline() or None
    with suppress(ImportError):
        import readline  # noqa: F401 - lets a person edit the line, where the system has it
    # The usual way to end would leave the terminal as the line editor needs it: without echo.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(PROMPT)
    except EOFError:
        say("\n")
        return None
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, handler)
        signal.raise_signal(signal.SIGINT)
        raise
    finally:
        signal.signal(signal.SIGINT, handler)


def _asked(prompt: str) -> str:
    say(prompt)
    line = sys.stdin.readline()
    if not line:
        raise Mistake("nobody answered at the checkpoint; send a message to be asked again")
    return line.strip()


def _user() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _undecided(conversation: str, one: Any, call: Mapping[str, Any] | None) -> Mistake:  # noqa: ANN401 - loaded when it is needed
    about = "" if call is None else f" --call {shlex.quote(json.dumps(call))}"
    remedy = f"skillweave ledger approve {conversation} {one.skill_id} {one.name}{about}"
    return Mistake(
        f"checkpoint {one.name!r} of skill {one.skill_id!r} waits for a person, and no terminal is here to ask at; "
        f"with --conversation, decide by `{remedy}` and the same --skills and --ledger, then say it again"
    )
