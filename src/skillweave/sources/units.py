"""One skill folder: its SKILL.md read, or known from the last time, and its artifacts listed."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from skillweave.diagnostics import Diagnostic, Location
from skillweave.formats.identity import digest_of_bytes
from skillweave.formats.skill_md import Strictness, read_skill_md
from skillweave.frontmatter import MAX_FILE_BYTES
from skillweave.skill import Skill
from skillweave.sources import codes
from skillweave.sources.artifacts import NONE, Artifacts, LeftOut, list_artifacts
from skillweave.sources.names import is_plain, shown
from skillweave.sources.reading import Content, Mark, Refused, read_inside, read_plain
from skillweave.sources.search import ARTIFACT_FOLDERS, Found
from skillweave.sources.tree import Tree

_UNNAMED = Artifacts(
    left_out=(LeftOut("the skill's folder has no plain UTF-8 name", "rename the folder", ARTIFACT_FOLDERS),)
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What one skill folder gave; `mark` is that of its skill file at `path`, None where it has to be read again."""

    path: str
    mark: Mark | None
    skill: Skill | None
    findings: tuple[Diagnostic, ...] = ()
    artifacts: Artifacts = NONE


@dataclass(frozen=True, slots=True)
class Reader:
    """How a source reads its skills: its name, how strictly, and how it tells people where something is.

    `show` takes a path below the source; `folder` is the name of the source's own folder, for a skill right in it.
    """

    source: str
    strictness: Strictness
    show: Callable[[str], str]
    folder: str

    def look(self, found: Found, tree: Tree, known: Unit | None) -> Unit:
        """The folder's unit; what did not change since it was `known` is not read again."""
        if known is not None and known.path != _path(found):
            known = None
        artifacts = _artifacts(found, tree, known)
        if known is not None and tree.holds(known.path, known.mark):
            return known if artifacts is known.artifacts else self._with(known, artifacts, self.place(found))
        try:
            content = _read(found)
        except Refused as refused:
            return Unit(_path(found), None, None, (self._refused(found, refused),))
        mark = tree.trusted(content.mark)
        if known is not None and known.skill is not None and known.skill.digest == digest_of_bytes(content.data):
            return self._with(replace(known, mark=mark), artifacts, self.place(found))
        return self._parse(found, content, mark, artifacts)

    def _parse(self, found: Found, content: Content, mark: Mark | None, artifacts: Artifacts) -> Unit:
        place = self.place(found)
        read = read_skill_md(
            content.data,
            path=place,
            folder=shown(os.path.basename(found.relative)) or self.folder,  # noqa: PTH119
            source=self.source,
            artifacts=artifacts.refs,
            strictness=self.strictness,
        )
        skill_id = read.skill.id if read.skill else None
        return Unit(
            _path(found), mark, read.skill, (*read.diagnostics, *_left_out(artifacts, place, skill_id)), artifacts
        )

    def place(self, found: Found) -> str:
        """The skill file's path as people see it."""
        return self.show(f"{found.relative}/{found.listing.skill}" if found.relative else f"{found.listing.skill}")

    def _with(self, known: Unit, artifacts: Artifacts, place: str) -> Unit:
        """The same definition, with what its artifacts are now; the very same skill where they are equal."""
        skill = known.skill
        if skill is not None and skill.artifacts != artifacts.refs:
            skill = replace(skill, artifacts=artifacts.refs)
        findings = known.findings
        if artifacts.left_out != known.artifacts.left_out:
            definition = (found for found in findings if found.code != codes.ARTIFACT_LEFT_OUT.name)
            findings = (*definition, *_left_out(artifacts, place, skill.id if skill else None))
        return Unit(known.path, known.mark, skill, findings, artifacts)

    def _refused(self, found: Found, refused: Refused) -> Diagnostic:
        place = self.place(found)
        return refused.code.found(Location(place), f"'{place}' is not read: {refused.why}", refused.fix)


def _path(found: Found) -> str:
    return f"{found.path}{os.sep}{found.listing.skill}"


def _read(found: Found) -> Content:
    name = found.listing.skill or ""
    if name in found.listing.links:
        return read_inside(found.path, "", name, MAX_FILE_BYTES)
    return read_plain(_path(found), MAX_FILE_BYTES)


def _artifacts(found: Found, tree: Tree, known: Unit | None) -> Artifacts:
    """A folder with a name that is not plain has no artifacts: none could be named."""
    if not is_plain(found.relative):
        return NONE if not any(name in found.listing.folders for name in ARTIFACT_FOLDERS) else _UNNAMED
    return list_artifacts(tree, found, known.artifacts if known else None)


def _left_out(artifacts: Artifacts, place: str, skill_id: str | None) -> tuple[Diagnostic, ...]:
    return tuple(replace(_finding(left_out, place), skill=skill_id) for left_out in artifacts.left_out)


def _finding(left_out: LeftOut, place: str) -> Diagnostic:
    first = ", ".join(f"'{artifact}'" for artifact in left_out.ids[:3])
    rest = len(left_out.ids) - 3
    verb = "is" if len(left_out.ids) == 1 else "are"
    message = f"{first}{f' and {rest} more' if rest > 0 else ''} {verb} not listed: {left_out.why}"
    return codes.ARTIFACT_LEFT_OUT.found(Location(place), message, left_out.fix)
