"""On which line of a SKILL.md something stands: a loaded skill no longer knows, so the file is read again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter.codes import MAX_FILE_BYTES
from skillweave.frontmatter.documents import FrontMatter, read_front_matter
from skillweave.frontmatter.yaml_text import Keys, Tree
from skillweave.registry import Snapshot
from skillweave.skill import Skill, Triggers
from skillweave.sources.files import Refused, read_real
from skillweave.sources.tree import SKILL_FILES

_NOTHING = FrontMatter(None)


@dataclass(slots=True)
class Lines:
    """The files of skills, each read when it is first asked about."""

    _files: dict[str, FrontMatter] = field(default_factory=dict)

    def of(self, skill: Skill, holds: Callable[[Keys, Tree], bool]) -> Location | None:
        """Where the first value stands of which that is true; the whole file where there is none."""
        path = skill.origin.location if skill.origin else ""
        front = self.file(skill)
        for keys, value in _values(front.fields, ()):
            if holds(keys, value):
                return Location(path, _line(front, keys))
        return Location(path) if path else None

    def in_text(self, skill: Skill, text: str) -> Location | None:
        """Where a piece of the body stands; the whole file where it does not."""
        path = skill.origin.location if skill.origin else ""
        front = self.file(skill)
        at = front.body.find(text)
        if at < 0:
            return Location(path) if path else None
        return Location(path, front.body_line + front.body.count("\n", 0, at))

    def file(self, skill: Skill) -> FrontMatter:
        """The file as it is now; an empty one for what is no SKILL.md or cannot be read."""
        path = skill.origin.location if skill.origin else ""
        if path not in self._files:
            self._files[path] = _read(path)
        return self._files[path]


def with_lines(diagnostics: tuple[Diagnostic, ...], snapshot: Snapshot, lines: Lines) -> Iterator[Diagnostic]:
    """The findings about triggers and output contracts, each with the line of what it is about."""
    for found in diagnostics:
        skill = snapshot.get(found.skill or "")
        if skill is None or found.location is None or found.location.line is not None:
            yield found
            continue
        wanted = _wanted(found, skill)
        yield found if wanted is None else replace(found, location=lines.of(skill, wanted))


def _wanted(found: Diagnostic, skill: Skill) -> Callable[[Keys, Tree], bool] | None:
    """What the value is like that a finding is about; None where nothing of the skill is."""
    if found.code.startswith("schema-"):
        return lambda keys, _: keys[-1] == "output_contract"
    for kind, text in _triggers_of(skill):
        # A finding about one trigger is what that trigger gives alone.
        if any(one.message == found.message for one in _findings(skill, kind, text)):
            return lambda keys, value: kind in keys[:-1] and value == text
    return None


def _triggers_of(skill: Skill) -> Iterator[tuple[str, str]]:
    for kind in ("patterns", "keywords", "verbs", "never"):
        for text in getattr(skill.triggers, kind):
            yield kind, text


def _findings(skill: Skill, kind: str, text: str) -> tuple[Diagnostic, ...]:
    from skillweave.select.index import compile_triggers
    from skillweave.text.search import MatchMode

    alone = replace(skill, triggers=replace(Triggers(), **{kind: (text,)}))
    return compile_triggers([alone], MatchMode.WORD)[1]


def _values(value: Tree, keys: Keys) -> Iterator[tuple[Keys, Tree]]:
    """Every value in the data with the way to it, outermost first."""
    if keys:
        yield keys, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, (*keys, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _values(inner, (*keys, index))


def _line(front: FrontMatter, keys: Keys) -> int | None:
    while keys and keys not in front.lines:
        keys = keys[:-1]
    return front.lines.get(keys)


def _read(path: str) -> FrontMatter:
    if Path(path).name not in SKILL_FILES:
        return _NOTHING
    try:
        return read_front_matter(read_real(path, MAX_FILE_BYTES).data, path=path)
    except Refused:
        return _NOTHING
