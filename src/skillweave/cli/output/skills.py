"""Skills as JSON and for people: what loading came to, the catalog, one skill, and what a check found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic
from skillweave.skill import Status


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
class FileFixed(Portable):
    """A file that was mended, or would be: what is changed, as a unified diff too."""

    path: str
    changes: tuple[str, ...]
    diff: str


@dataclass(frozen=True, slots=True)
class CheckShown(Portable):
    """What `check` found: counts of skill files, the skills that a host's key is at work in, and each finding.

    `fixed` are the files that `--fix` mended, or would mend.
    """

    loaded: int
    skipped: int
    repaired: int
    host_keys: Mapping[str, Sequence[str]]
    diagnostics: tuple[Diagnostic, ...]
    fixed: tuple[FileFixed, ...] = ()


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
