"""Added skills as JSON and for people: what was copied from where, and what became of it since."""

from collections.abc import Iterator
from dataclasses import dataclass

from skillweave.cli.output.page import Ink, Page, below, counted, printable
from skillweave.codec import Portable
from skillweave.installs.adding import Added
from skillweave.installs.lock import Condition, Locked, Standing


@dataclass(frozen=True, slots=True)
class AddedShown(Portable):
    """The skills that were added to a folder."""

    folder: str
    skills: tuple[Added, ...]


@dataclass(frozen=True, slots=True)
class Installed(Portable):
    """The skills that were added to a folder, as they are now."""

    folder: str
    skills: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Removed(Portable):
    """An added skill that was taken out again."""

    folder: str
    skill_id: str
    locked: Locked


def added_text(shown: AddedShown, page: Page) -> str:
    """A line for each skill with its source, and how to go on."""
    lines = [
        page.entry(one.change, f"{one.skill_id}, {_origin(one.locked)}", _INKS[one.change]) for one in shown.skills
    ]
    return below(lines, "Read what you added before an agent does:", f"  skillweave check {printable(shown.folder)}")


_INKS = {"new": Ink.GOOD, "replaced": Ink.WARN, "unchanged": Ink.FAINT}


def installed_text(shown: Installed, page: Page) -> str:
    """A line for each added skill, and below it the files that differ."""
    lines = [line for one in shown.skills for line in _installed(one, page)]
    return below(lines, f"{counted(len(shown.skills), 'added skill')} in {printable(shown.folder)}.")


def removed_text(shown: Removed, page: Page) -> str:
    """What was taken out."""
    return page.entry("removed", f"{shown.skill_id}, {_origin(shown.locked)}", Ink.GOOD)


def _installed(one: Standing, page: Page) -> Iterator[str]:
    inks = {Condition.UNCHANGED: Ink.GOOD, Condition.EDITED: Ink.WARN, Condition.MISSING: Ink.BAD}
    yield page.entry(one.condition.value, f"{one.skill_id}, {_origin(one.locked)}", inks[one.condition])
    if one.differing:
        yield page.entry("", ", ".join(one.differing))


def _origin(locked: Locked) -> str:
    version = f"version {locked.version}, " if locked.version else ""
    inside = "" if locked.path == "." else f", {locked.path}"
    commit = f", commit {locked.commit[:12]}" if locked.commit else ""
    return f"{version}{counted(len(locked.sha256), 'file')} from {locked.source}{inside}{commit}"
