"""`skillweave add` and `remove`: skills of others in your folder, with a lock of what came from where."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from skillweave.cli import options
from skillweave.cli.arguments.skills import DEFAULT_FOLDER
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page, below, counted, printable
from skillweave.codec import Portable
from skillweave.installs.adding import Added
from skillweave.installs.lock import Condition, Locked, Standing

EXAMPLES = {
    "add": """
skillweave add ../team-skills/release
skillweave add skills.zip --skill invoice-checking
skillweave add https://github.com/anthropics/skills --skill pdf --ref main
skillweave add skills-lock.json --in .claude/skills
skillweave add --in .claude/skills --json
""",
    "remove": """
skillweave remove release
skillweave remove release --in .claude/skills --force
""",
}
_Force = Annotated[
    bool,
    options.option(options.SKILLS, "--force", "Also where it was edited, or was not added: what is there is lost."),
]


def add(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A folder, a zip or tar archive, or a git repository (https://..., ssh://..., git@HOST:PATH). "
            "Default: list the skills that were added, and whether they were edited.",
            show_default=False,
        ),
    ] = None,
    skill: Annotated[
        list[str] | None,
        options.option(options.SKILLS, "--skill ID", "Of several skills in the source, add this one. Repeatable."),
    ] = None,
    everything: Annotated[
        bool, options.option(options.SKILLS, "--all-skills", "Of several skills in the source, add all.")
    ] = False,
    ref: Annotated[
        str | None, options.option(options.SKILLS, "--ref NAME", "The branch or tag of a repository. Default: its own.")
    ] = None,
    folder: options.FolderOfSkills = DEFAULT_FOLDER,
    force: _Force = False,
) -> Answer:
    """Copy skills of others into your folder of skills, or list them.

    All of them are added or none. The file skillweave.lock says where each came from, with its version and the SHA-256
    of every file. Links are refused, and nothing of a skill is run. A repository is cloned by your own git, without
    hooks, submodules or your git configuration. Of a skills-lock.json the skills that stand in the folder already are
    locked, if they are what it says. What you edited is not overwritten. A skill is text that your agent
    obeys: read it before you use it.
    """
    from skillweave.installs.adding import add_skills
    from skillweave.installs.fetching import fetched
    from skillweave.installs.importing import FOREIGN_LOCK, import_lock
    from skillweave.installs.packages import packages_in

    if source is None:
        from skillweave.installs.lock import read_lock, standings

        listed = Installed(folder, tuple(standings(Path(folder), read_lock(Path(folder)))))
        return Answer(lambda: listed, partial(installed_text, listed))
    if skill and everything:
        raise Mistake("--all-skills means every skill of the source, and --skill names some; leave out one of the two")
    if Path(source).name == FOREIGN_LOCK:
        imported = AddedShown(folder, import_lock(Path(source), Path(folder)))
        return Answer(lambda: imported, partial(added_text, imported))
    with fetched(source, ref) as (root, origin):
        packages = packages_in(root, tuple(skill) if skill else None, everything=everything)
        added = add_skills(Path(folder), packages, origin, force=force)
    shown = AddedShown(folder, added)
    return Answer(lambda: shown, partial(added_text, shown), notes=_without_phrases(folder, shown))


def _without_phrases(folder: str, shown: "AddedShown") -> tuple[str, ...]:
    """A line for the user where nobody has written yet what people would type who need what was added."""
    from skillweave.sources.phrases import FILE, phrases_in

    file = Path(folder) / FILE
    known = phrases_in(file.read_bytes(), FILE).by_id if file.is_file() else {}
    missing = [one.skill_id for one in shown.skills if one.skill_id not in known]
    if not missing:
        return ()
    how = f"`skillweave phrases write --skills {folder}` lets a model write them, and they are found more often"
    return (f"without phrases that people would type: {len(missing)} of {len(shown.skills)} added skills; {how}",)


def remove(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The id of an added skill.")],
    folder: options.FolderOfSkills = DEFAULT_FOLDER,
    force: _Force = False,
) -> Answer:
    """Take an added skill out again.

    Deletes its folder and its entry in the lock. One that you edited stays, unless you add --force.
    """
    from skillweave.installs.adding import remove_skill

    shown = Removed(folder, skill, remove_skill(Path(folder), skill, force=force))
    return Answer(lambda: shown, partial(removed_text, shown))


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
