"""What a checkup can find, and its report: problems with their place and remedy, and notes (spec 3.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from skillweave.codec import Portable


class Level(StrEnum):
    """An `error` makes the graph unusable as it is declared, a `warning` only wants attention."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem(Portable):
    """One finding; `skill`, `from_` and `to` say where, as far as they apply, and `fix` what to do."""

    code: str
    level: Level
    message: str
    skill: str | None = None
    from_: str | None = None
    to: str | None = None
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Checkup(Portable):
    """The whole report; `notes` say what it does not prove, and what was suppressed for which reason."""

    json_keys: ClassVar[tuple[str, ...]] = ("ok", "...")

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return all(problem.level is not Level.ERROR for problem in self.problems)

    def __str__(self) -> str:
        lines = [f"{one.level.value}: {one.message} {one.fix} [{one.code}]" for one in self.problems]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)]) or "nothing is wrong with the graph"


class Code(NamedTuple):
    """A kind of finding; `says` is what it means in one sentence."""

    level: Level
    says: str


_ERROR, _WARNING = Level.ERROR, Level.WARNING

CODES: Mapping[str, Code] = MappingProxyType(
    {
        "unknown-skill": Code(_ERROR, "An entry, a route, a tree or a limit names a skill that is not listed."),
        "no-entry": Code(_ERROR, "The graph has neither entries nor a tree, so that nothing ever begins."),
        "intent-without-scorer": Code(_ERROR, "A condition is an intent, and the graph has no scorer to judge it."),
        "unknown-tool": Code(_ERROR, "A route waits for a tool that neither its skill nor the host has."),
        "unknown-status": Code(_ERROR, "A route, or another condition, names a status that no tool result has."),
        "untyped-comparison": Code(
            _ERROR,
            "A guard compares what has no order or no common type: words without a scale or that are not on it, "
            "booleans, lists of several types.",
        ),
        "guard-unsatisfiable": Code(_ERROR, "The conditions of a route, entry or decision exclude each other."),
        "unreachable-skill": Code(_WARNING, "No entry, route or leaf that can be reached leads to a listed skill."),
        "model-edge-only": Code(_WARNING, "Only the model can lead to a skill: every way there is a bare edge."),
        "dead-end": Code(
            _WARNING,
            "No route leads out of a skill; for one that is meant to be the last, suppress the code with that reason.",
        ),
        "trap": Code(_WARNING, "Several skills lead to each other, and no route leads out of them to the others."),
        "self-loop": Code(_WARNING, "A route leads from a skill to the same skill."),
        "duplicate-route": Code(_WARNING, "Two routes have the same ends and the same conditions."),
        "shadowed-route": Code(
            _WARNING, "A route never wins: wherever it fires, one that is asked before it fires too."
        ),
        "ambiguous-routes": Code(
            _WARNING,
            "Two routes of one skill and of equal priority lead to different skills and can fire for the same result.",
        ),
        "multi-entry-fanout": Code(
            _WARNING, "Entries stand after one without a condition, which always begins before them."
        ),
        "dead-entry-step": Code(
            _WARNING, "Routes leave an entry at which no conversation begins and to which no route leads."
        ),
        "overlapping-rules": Code(_WARNING, "Two entries of different skills share a keyword."),
        "rules-shadowed-by-order": Code(
            _WARNING, "An entry never begins: wherever its condition holds, that of an earlier one holds too."
        ),
        "example-misses-own-rule": Code(_ERROR, "The condition of an entry does not hold for its own example."),
        "example-shadowed-by-earlier": Code(_ERROR, "An earlier entry of another skill takes an example."),
        "example-unclaimed": Code(_WARNING, "No entry begins on an example."),
        "duplicate-intent-example": Code(_WARNING, "Two intents have the same example."),
        "never-routes-claimed": Code(
            _ERROR, "A phrase of `never_routes` is an example of an entry, or an entry's condition holds for it."
        ),
        "no-negative-evidence": Code(
            _WARNING, "Three or more entries have conditions, and there is no example and no phrase of `never_routes`."
        ),
        "body-foreign-tool": Code(_WARNING, "The text of a skill names a tool that only another skill may use."),
        "body-unknown-tool": Code(_WARNING, "The text of a skill calls a tool that nobody has."),
    }
)


def problem(
    code: str, message: str, fix: str, *, skill: str | None = None, from_: str | None = None, to: str | None = None
) -> Problem:
    """A finding of that code, at its level."""
    return Problem(code, CODES[code].level, message, skill, from_, to, fix)
