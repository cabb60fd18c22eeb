"""What is found while one definition is read, and what comes of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from skillweave.diagnostics import Diagnostic, Location, Severity, has_errors
from skillweave.errors import InvalidSkill
from skillweave.frontmatter import Code, Keys
from skillweave.skill import Skill

_NO_LINES: Mapping[Keys, int] = {}


@dataclass(frozen=True, slots=True)
class SkillRead:
    """One definition, read: the skill, None when it was skipped, and all that was found on the way."""

    skill: Skill | None
    diagnostics: tuple[Diagnostic, ...] = ()


class Findings:
    """Collects diagnostics about one definition; knows its `path` and on which line a key stands."""

    __slots__ = ("_first_line", "_found", "_lines", "path")

    def __init__(
        self,
        path: str,
        lines: Mapping[Keys, int] = _NO_LINES,
        *,
        first_line: int | None = None,
        found: Iterable[Diagnostic] = (),
    ) -> None:
        self.path = path
        self._lines = lines
        self._first_line = first_line
        self._found = list(found)

    def report(self, code: Code, keys: Keys, message: str, fix: str) -> None:
        """Adds a finding about the value at these keys."""
        self._found.append(code.found(Location(self.path, self.line(keys)), message, fix))

    def report_at(self, code: Code, line: int | None, message: str, fix: str) -> None:
        """Adds a finding about a line."""
        self._found.append(code.found(Location(self.path, line), message, fix))

    def line(self, keys: Keys) -> int | None:
        """The line of that value, or of the nearest that encloses it."""
        while keys:
            if keys in self._lines:
                return self._lines[keys]
            keys = keys[:-1]
        return self._first_line

    def has_errors(self) -> bool:
        """Whether anything found so far is an error."""
        return has_errors(self._found)

    def outcome(self, skill: Skill | None) -> SkillRead:
        """The result, each diagnostic with the skill's id."""
        if skill is None or not self._found:
            return SkillRead(skill, tuple(self._found))
        return SkillRead(skill, tuple(_named(diagnostic, skill.id) for diagnostic in self._found))


def require_skill(read: SkillRead) -> Skill:
    """The skill that was read; raises InvalidSkill naming every error when anything of the definition was lost."""
    errors = [found for found in read.diagnostics if found.severity is Severity.ERROR]
    if errors or read.skill is None:
        raise InvalidSkill("; ".join(f"{error.message} ({error.fix})" for error in errors) or "no skill was read")
    return read.skill


def _named(diagnostic: Diagnostic, skill: str) -> Diagnostic:
    return diagnostic if diagnostic.skill else replace(diagnostic, skill=skill)
