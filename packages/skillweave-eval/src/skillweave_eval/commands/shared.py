"""What the commands of `skillweave eval` share."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_type_hints

import typer

from skillweave import commands
from skillweave.commands import Mistake

if TYPE_CHECKING:
    from skillweave import Weaver
    from skillweave_eval.answers import Answer
    from skillweave_eval.ranking import Configuration


EVALUATION = "The evaluation"


Html: TypeAlias = Annotated[
    str | None,
    commands.option(commands.OUTPUT, "--html FILE", "Write a page with tables and plots too."),
]


@dataclass(frozen=True, slots=True)
class Resampled:
    """How intervals are made."""

    seed: Annotated[
        int,
        commands.option(EVALUATION, "--seed N", "The seed of the resampling.", parser=commands.whole_number),
    ] = 0
    resamples: Annotated[
        int,
        commands.option(
            EVALUATION,
            "--resamples N",
            "How often queries are drawn anew for an interval; 0 for none.",
            parser=commands.whole_number,
        ),
    ] = 2000


def share(given: str | float) -> float:
    """A number from 0 to 1; raises BadParameter for anything else."""
    try:
        number = float(given)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise typer.BadParameter(f"{str(given)[:40]!r} is no number from 0 to 1")
    return number


def positive(given: str | float) -> float:
    """A number of at least 0; raises BadParameter for anything else."""
    try:
        number = float(given)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise typer.BadParameter(f"{str(given)[:40]!r} is no number of at least 0")
    return number


def configuration_of(weaver: "Weaver", selecting: commands.Selecting) -> "Configuration":
    """The matchers that took part, and the options that are not at their defaults."""
    from skillweave_eval.ranking import Configuration

    given = {
        field.name.replace("_", "-"): value
        for field in fields(selecting)
        if (value := getattr(selecting, field.name)) != field.default and field.name not in ("matcher", "mention")
    }
    return Configuration(weaver.skills.matchers, given)


def hindered_notes(answers: "Sequence[Answer]") -> Iterator[str]:
    """A line for the user where a matcher could not take part, so that the figures are not about it."""
    reasons = [answer.hindered for answer in answers if answer.hindered is not None]
    if reasons:
        yield f"in {len(reasons)} of {len(answers)} queries a matcher could not take part: {reasons[0]}"


def embedder_id(selecting: commands.Selecting) -> str | None:
    """The id of the embedder that takes part, None for words alone."""
    if selecting.embedder is None:
        return None
    from skillweave.selection import embedder_of

    return embedder_of(selecting.embedder).id


def changed(selecting: commands.Selecting, text: str) -> commands.Selecting:
    """The options with those changed that the text names, as `name=value` between blanks; raises Mistake."""
    hints = get_type_hints(type(selecting), include_extras=True)
    names = {field.name.replace("_", "-"): field.name for field in fields(selecting)}
    given: dict[str, Any] = {}
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if name not in names or not equals:
            raise Mistake(f"{word[:60]!r} in --against is no option=value; the options are {', '.join(names)}")
        given[names[name]] = _taken(name, value, hints[names[name]])
    return replace(selecting, **given)


def _taken(name: str, value: str, hint: Any) -> object:  # noqa: ANN401 - an annotation
    kind, *notes = get_args(hint)
    kinds = [one for one in get_args(kind) if one is not type(None)] or [kind]
    if kind is bool or bool in kinds:
        if value not in ("true", "false"):
            raise Mistake(f"{name} in --against is true or false, not {value[:40]!r}")
        return value == "true"
    if any(getattr(one, "__origin__", None) is list for one in (*kinds, kind)):
        return [part for part in value.split(",") if part]
    parser = next((note.parser for note in notes if getattr(note, "parser", None)), None)
    if parser is not None:
        return parser(value)
    for number in (int, float):
        if number in kinds:
            return number(value)
    return value


def write(path: str, text: str) -> None:
    """Write a report."""
    Path(path).write_text(text, encoding="utf-8")


def write_page(path: str | None, report: object) -> None:
    """Write the page of a report, where one is wanted."""
    if path is not None:
        from skillweave_eval.page import page_of

        write(path, page_of(report))


def label_notes(unknown: Sequence[str]) -> Iterator[str]:
    """A line for the user where labels name skills that are not there."""
    if unknown:
        shown = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        yield f"labels name skills that are not here, which counts as a miss: {shown}; check --skills and the labels"


@contextmanager
def progress(what: str) -> "Iterator[Callable[[int, int], None] | None]":
    """A bar on stderr, told how many of how many are done; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with typer.progressbar(length=1, label=what, file=sys.stderr) as bar:

        def tell(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield tell
