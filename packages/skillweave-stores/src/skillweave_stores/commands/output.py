"""Stored skills as JSON and for people: what was stored, which versions there are, and which one is in use."""

from collections.abc import Iterator
from dataclasses import dataclass

from skillweave import Diagnostic, Severity
from skillweave.commands import Ink, Page, Portable, counted, finding_line, printable, shown_time
from skillweave.registry import StoredVersion
from skillweave_stores.seed import Seeded
from skillweave_stores.seed.filling import NOT_KEPT

SHORT = 12
"""So much of a content hash is shown: enough to tell the versions of a skill apart."""
_NAMED = 5
"""So many changed skills are named with their versions."""
_TOLD = frozenset({NOT_KEPT.name, "shadowed", "agent-declared-twice"})
"""What is told besides errors: that something of a source is not in the store."""


@dataclass(frozen=True, slots=True)
class VersionShown(Portable):
    """A version of a skill that was published once; `published_at` is in seconds of the store's clock."""

    content_hash: str
    version: str | None
    published_at: float
    in_use: bool


@dataclass(frozen=True, slots=True)
class VersionsShown(Portable):
    """Every version of a skill, the one that was published last first."""

    skill_id: str
    versions: tuple[VersionShown, ...]


@dataclass(frozen=True, slots=True)
class InUse(Portable):
    """The version of a skill that is in use now, and the one that was before; null where none is."""

    skill_id: str
    content_hash: str | None
    version: str | None
    before: str | None


@dataclass(frozen=True, slots=True)
class MigrationShown(Portable):
    """The revision of a database's tables, null where there are none, and the newest one.

    `before` is the revision that a migration began with.
    """

    revision: str | None
    newest: str | None
    before: str | None


def seeded_text(done: Seeded, page: Page, *, place: str) -> str:
    """What was not stored and why, the versions of a few that changed, then how much was stored."""
    lines = [finding_line(found, page) for found in _told(done)]
    changed = [("inserted", *one) for one in done.inserted.items()] + [
        ("updated", *one) for one in done.updated.items()
    ]
    if len(changed) <= _NAMED:
        lines += [page.entry(label, f"{skill_id} {one[:SHORT]}", Ink.GOOD) for label, skill_id, one in changed]
    return "\n".join([*lines, *([""] if lines else []), f"{_summary(done)} in {printable(place)}."])


def other_findings(done: Seeded) -> tuple[str, ...]:
    """A line about the findings that are not printed, where there are any."""
    more = len(done.diagnostics) + len(done.refused) - len(_told(done))
    return (f"{counted(more, 'more finding')} in the skill files; `skillweave check` lists them",) if more else ()


def versions_shown(skill_id: str, versions: tuple[StoredVersion, ...]) -> VersionsShown:
    """The answer about the versions of a skill."""
    rows = (VersionShown(one.content_hash, one.skill.version, one.at, one.in_use) for one in versions)
    return VersionsShown(skill_id, tuple(rows))


def versions_text(shown: VersionsShown, page: Page) -> str:
    """A line for each version: the beginning of its hash, its number, when it was published, and whether it is used."""
    return "\n".join(_version(one, page) for one in shown.versions)


def in_use_text(shown: InUse, page: Page) -> str:
    """Which version is in use now, and which was before."""
    name = shown.skill_id
    if shown.content_hash is None:
        return page.entry("unpublished", f"{name}; skillweave store rollback {name} puts it in use again")
    now = f"{shown.content_hash[:SHORT]}{f' (version {shown.version})' if shown.version else ''}"
    if shown.before == shown.content_hash:
        return page.entry("unchanged", f"{name} {now} is in use already", Ink.FAINT)
    before = f"before it {shown.before[:SHORT]}" if shown.before else "before it none was in use"
    return page.entry("in use", f"{name} {now}, {before}", Ink.GOOD)


def migration_text(shown: MigrationShown, page: Page) -> str:
    """What was done, or what there is to do."""
    if shown.revision != shown.newest:
        there = f"the tables are of revision {shown.revision}" if shown.revision else "there are no tables yet"
        return page.entry("to migrate", f"{there}, {shown.newest} is the newest", Ink.WARN)
    if shown.before == shown.revision:
        return page.entry("up to date", f"revision {shown.revision}", Ink.GOOD)
    before = f"revision {shown.before}" if shown.before else "no tables"
    return page.entry("migrated", f"from {before} to revision {shown.revision}", Ink.GOOD)


def _told(done: Seeded) -> list[Diagnostic]:
    told = (one for one in done.diagnostics if one.severity is Severity.ERROR or _matters(one))
    return [*told, *done.refused]


def _matters(found: Diagnostic) -> bool:
    return found.code in _TOLD and found.severity is not Severity.INFO


def _summary(done: Seeded) -> str:
    agents = done.agents
    skills = (len(done.inserted), len(done.updated), len(done.unchanged))
    refused = sum(one.skill is not None for one in done.refused)
    parts = list(_counts("skill", *skills, refused))
    others = (len(agents.inserted), len(agents.updated), len(agents.unchanged), len(done.refused) - refused)
    parts += _counts("agent", *others)
    summary = "; ".join(parts) or "no skills were found, and nothing is stored"
    return summary if done.changed or not parts else f"nothing changed; {summary}"


def _counts(noun: str, inserted: int, updated: int, unchanged: int, refused: int) -> Iterator[str]:
    counts = (("inserted", inserted), ("updated", updated), ("unchanged", unchanged), ("refused", refused))
    there = [(label, count) for label, count in counts if count]
    if there:
        (label, first), *others = there
        yield ", ".join([f"{counted(first, noun)} {label}", *(f"{count:,} {label}" for label, count in others)])


def _version(one: VersionShown, page: Page) -> str:
    label = page.paint(one.content_hash[:SHORT], Ink.STRONG) if one.in_use else one.content_hash[:SHORT]
    number = f"  version {one.version}" if one.version else ""
    return f"{label}  {shown_time(one.published_at)}{printable(number)}{'  in use' if one.in_use else ''}"
