"""What a user should hear about the skills that a command loaded."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillweave.cli.output.page import counted
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.formats import codes as fields
from skillweave.formats.codes import GRAPH
from skillweave.frontmatter import codes as texts
from skillweave.knowledge.codes import (
    CONTEXT_INCOMPLETE,
    ENTITY_AMBIGUOUS,
    ENTITY_OVERRULED,
    ENTITY_UNAVAILABLE,
    ENTITY_UNKNOWN,
)
from skillweave.registry.codes import NO_SKILLS
from skillweave.skill import Skill
from skillweave.sources.codes import BAD_EVENT, MISNAMED
from skillweave.sources.names import PACK_SUFFIXES

if TYPE_CHECKING:
    from skillweave.graph import SkillGraph
    from skillweave.registry import Snapshot


REPAIRS = frozenset(
    code.name
    for code in (
        texts.BYTE_ORDER_MARK,
        texts.CRLF,
        texts.BLANK_BEFORE_FENCE,
        texts.REPAIRED,
        texts.DUPLICATE_KEY,
        fields.FRONT_MATTER_GUESSED,
        fields.NAME_MISSING,
        fields.NAME_DIFFERS,
        fields.NAME_TOO_LONG,
        fields.ID_REPAIRED,
        fields.DESCRIPTION_TOO_LONG,
        fields.TOOLS_RESPELLED,
        fields.NOT_A_LIST,
        fields.NOT_TEXT,
        fields.FIELD_TWICE,
    )
)
"""The findings after which a definition was read as it was meant, against the letter of the format (spec 1.2)."""

BESIDE_DEFINITIONS = frozenset(code.name for code in (fields.AGENT, fields.TASK_RULE, fields.GRAPH, BAD_EVENT))
"""Errors in a pack that cost no skill."""


@dataclass(frozen=True, slots=True)
class Tally:
    """`loaded` definitions became a skill, shadowed ones too; `skipped` did not; `repaired` were read as meant."""

    loaded: int
    skipped: int
    repaired: int


def tally_of(snapshot: "Snapshot") -> Tally:
    """Count definitions: the SKILL.md of a folder, or the entry of a pack."""
    held = {_definition(_place(skill), skill.id) for skill in (*snapshot.skills.values(), *snapshot.shadowed)}
    return Tally(
        loaded=snapshot.loaded,
        skipped=len(_definitions(_costly(snapshot.diagnostics)) - held),
        repaired=len(_definitions(found for found in snapshot.diagnostics if found.code in REPAIRS) & held),
    )


def loading_notes(snapshot: "Snapshot") -> tuple[str, ...]:
    """What a user should hear before trusting an answer: nothing was found, or some files were not read."""
    notes = [f"{found.message}; {found.fix}" for found in snapshot.diagnostics if found.code == NO_SKILLS.name]
    skipped = tally_of(snapshot).skipped
    if skipped:
        what = "1 skill is" if skipped == 1 else f"{skipped:,} skills are"
        notes.append(f"{what} left out because of errors; `skillweave check` with the same --skills says why")
    return tuple(notes)


def _costly(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    errors = (found for found in diagnostics if found.severity is Severity.ERROR or found.code == MISNAMED.name)
    return (found for found in errors if found.code not in BESIDE_DEFINITIONS)


def _definitions(diagnostics: Iterable[Diagnostic]) -> set[tuple[str, str | None]]:
    return {_definition(found.location.path, found.skill) for found in diagnostics if found.location is not None}


def _definition(place: str, skill_id: str | None) -> tuple[str, str | None]:
    """One file holds one skill, but a pack holds many."""
    return place, skill_id if place.lower().endswith(PACK_SUFFIXES) else None


def _place(skill: Skill) -> str:
    return skill.origin.location if skill.origin else ""


ABOUT_ENTITIES = frozenset(
    code.name for code in (ENTITY_UNKNOWN, ENTITY_AMBIGUOUS, ENTITY_OVERRULED, ENTITY_UNAVAILABLE, CONTEXT_INCOMPLETE)
)
"""What a turn says of the entity that it is about, where nothing can be shown of it."""


def entity_notes(snapshot: "Snapshot") -> tuple[str, ...]:
    """A line where entities are named, and the skills that were loaded show nothing of any."""
    from skillweave.knowledge.findings import context_findings, entity_rules_in

    found = context_findings(snapshot, entity_rules_in(snapshot), entities=True)
    return tuple(f"{one.message}; {one.fix}" for one in found if one.severity is not Severity.INFO)


_SEE = "`skillweave check` with the same --skills, --pack and --graph says why"


def graph_notes(snapshot: "Snapshot", graph: "SkillGraph | None") -> tuple[str, ...]:
    """A line where a graph cannot be read, and one where the graph in use has errors; `graph` is the one of --graph."""
    notes = []
    if any(found.code == GRAPH.name for found in snapshot.diagnostics):
        notes.append(f"a skill graph is left out because of errors; {_SEE}")
    if graph is None and snapshot.graph is None:
        return tuple(notes)
    from skillweave.graph.findings import graph_findings

    errors = sum(found.severity is Severity.ERROR for found in graph_findings(snapshot, graph))
    if errors:
        notes.append(f"the skill graph has {counted(errors, 'error')}, and may lead to the wrong skill; {_SEE}")
    return tuple(notes)
