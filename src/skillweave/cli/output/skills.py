"""Skills as JSON and for people: what loading came to, the catalog, one skill, and what a check found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from skillweave.cli.output.page import counted
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.formats import codes as fields
from skillweave.formats.codes import GRAPH
from skillweave.frontmatter import codes as texts
from skillweave.registry import Snapshot
from skillweave.skill import Skill, Status
from skillweave.sources.codes import BAD_EVENT, MISNAMED, NO_SKILLS
from skillweave.sources.names import PACK_SUFFIXES

if TYPE_CHECKING:
    from skillweave.graph import SkillGraph


REPAIRS = frozenset(
    code.name
    for code in (
        texts.BYTE_ORDER_MARK,
        texts.CRLF,
        texts.BLANK_BEFORE_FENCE,
        texts.REPAIRED,
        texts.DUPLICATE_KEY,
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

BESIDE_DEFINITIONS = frozenset(code.name for code in (fields.TASK_RULE, fields.GRAPH, BAD_EVENT))
"""Errors in a pack that cost no skill."""


@dataclass(frozen=True, slots=True)
class Tally:
    """`loaded` definitions became a skill, shadowed ones too; `skipped` did not; `repaired` were read as meant."""

    loaded: int
    skipped: int
    repaired: int


def tally_of(snapshot: Snapshot) -> Tally:
    """Count definitions: the SKILL.md of a folder, or the entry of a pack."""
    held = {_definition(_place(skill), skill.id) for skill in (*snapshot.skills.values(), *snapshot.shadowed)}
    return Tally(
        loaded=snapshot.loaded,
        skipped=len(_definitions(_costly(snapshot.diagnostics)) - held),
        repaired=len(_definitions(found for found in snapshot.diagnostics if found.code in REPAIRS) & held),
    )


def loading_notes(snapshot: Snapshot) -> tuple[str, ...]:
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
        notes.append(f"the skill graph has {counted(errors, 'error')}, so that it may lead astray; {_SEE}")
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class Price(Portable):
    """What a skill costs in tokens: its line in the catalog, and its instructions."""

    catalog: int
    instructions: int


@dataclass(frozen=True, slots=True)
class CatalogSkill(Portable):
    """A skill in the answer of `catalog`; one that is `closed_to_model` only a user can pick."""

    skill_id: str
    name: str
    description: str
    status: Status
    closed_to_model: bool
    in_catalog: bool
    tokens: Price


@dataclass(frozen=True, slots=True)
class CatalogShown(Portable):
    """The catalog as the model sees it, what it costs, and every skill; `shown` of `total` have a line in it."""

    catalog: str
    tokens: int
    shown: int
    total: int
    skills: tuple[CatalogSkill, ...]


@dataclass(frozen=True, slots=True)
class SkillPrice(Price):
    """What a skill costs in tokens in each of the forms that a model can get."""

    json_keys: ClassVar[tuple[str, ...]] = ("catalog", "outline", "instructions", "full")

    outline: int
    full: int


@dataclass(frozen=True, slots=True)
class Place(Portable):
    """Where a skill came from."""

    source: str
    location: str


@dataclass(frozen=True, slots=True)
class Openings(Portable):
    """Who may ask for a skill."""

    by_model: bool
    by_user: bool


@dataclass(frozen=True, slots=True)
class SkillShown(Portable):
    """A skill as `show` prints it: its own form, what is at its default left out, then what is known of it."""

    json_keys: ClassVar[tuple[str, ...]] = (
        *("id", "name", "description", "spelling?", "version?", "status?", "triggers?", "domain_tags?", "text?"),
        *("tools?", "relations?", "checkpoints?", "emits?", "artifacts?", "license?", "compatibility?"),
        *("metadata?", "extra?", "..."),
    )

    id: str
    name: str
    description: str
    origin: Place | None
    digest: str
    invocation: Openings
    when_to_use: str | None
    takes_arguments: bool
    tokens: SkillPrice
    block: str
    spelling: str | None = None
    version: str | None = None
    status: str | None = None
    triggers: Mapping[str, Sequence[str]] | None = None
    domain_tags: Sequence[str] | None = None
    text: Mapping[str, object] | None = None
    tools: Mapping[str, Sequence[str]] | None = None
    relations: Sequence[Mapping[str, str]] | None = None
    checkpoints: Sequence[object] | None = None
    emits: Sequence[str] | None = None
    artifacts: Sequence[Mapping[str, object]] | None = None
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, object] | None = None
    extra: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class CheckShown(Portable):
    """What `check` found: counts of skill files, the skills that a host's key is at work in, and each finding."""

    loaded: int
    skipped: int
    repaired: int
    host_keys: Mapping[str, Sequence[str]]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class EditShown(Portable):
    """What `check --watch` found after an edit: what became of which skills, and the findings that came and went."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    loaded: int
    skipped: int
    repaired: int
    diagnostics: tuple[Diagnostic, ...]
    gone: tuple[Diagnostic, ...]
