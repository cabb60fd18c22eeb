"""Skills as JSON: one with its cost, and what a check found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic
from skillweave.skill import Skill


@dataclass(frozen=True, slots=True)
class SkillPrice(Portable):
    """What a skill costs in tokens in each of the forms that a model can get."""

    catalog: int
    outline: int
    instructions: int
    full: int


@dataclass(frozen=True, slots=True)
class SkillShown(Portable):
    """A skill, what it costs, and `block`, the text that is injected or the part of it that was asked for."""

    skill: Skill
    tokens: SkillPrice
    block: str


@dataclass(frozen=True, slots=True)
class FileFixed(Portable):
    """A file that was mended, or would be: what is changed, as a unified diff too."""

    path: str
    changes: tuple[str, ...]
    diff: str


@dataclass(frozen=True, slots=True)
class CheckShown(Portable):
    """What `check` found: counts, skills that use a host's key, findings, and the files that `--fix` mends."""

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
