"""Where agent clients keep skills by convention (spec 1.2): a table, of which nothing is read unless asked for."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Scope(StrEnum):
    """Whose skills they are: the project's, which come first, or the user's, below the home folder."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Root:
    """One conventional place: the client that uses it, and its path below the project's or the home folder."""

    client: str
    scope: Scope
    path: str


ROOTS = (
    Root("any", Scope.PROJECT, ".agents/skills"),
    Root("claude", Scope.PROJECT, ".claude/skills"),
    Root("cursor", Scope.PROJECT, ".cursor/skills"),
    Root("copilot", Scope.PROJECT, ".github/skills"),
    Root("any", Scope.USER, ".agents/skills"),
    Root("claude", Scope.USER, ".claude/skills"),
    Root("codex", Scope.USER, ".codex/skills"),
    Root("cursor", Scope.USER, ".cursor/skills"),
    Root("gemini", Scope.USER, ".gemini/skills"),
    Root("copilot", Scope.USER, ".copilot/skills"),
)
"""In order of precedence; clients link or copy skills from the first of a scope into their own."""


def existing_roots(project: Path, home: Path) -> tuple[tuple[Root, Path], ...]:
    """The rows whose folder exists, with its path, in order of precedence; one folder is listed once."""
    folders = {Scope.PROJECT: project, Scope.USER: home}
    found: dict[Path, Root] = {}
    for root in ROOTS:
        found.setdefault(folders[root.scope] / root.path, root)
    return tuple((root, path) for path, root in found.items() if path.is_dir())
