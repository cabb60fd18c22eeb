"""Where agent clients keep skills by convention (spec 1.2): a table; the library reads none of them unasked."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skillweave.sources.files import is_inside, repository_of


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


CLIENTS = ("any", "claude")
"""Whose places are looked at where nobody names any skills: the open convention, and the one that most follow."""


def default_roots(scope: Scope, above: Path) -> tuple[Path, ...]:
    """The folders of these clients below `above`, by precedence, each real one once; links out are left out."""
    within = repository_of(os.path.realpath(above))
    real: dict[str, Path] = {}
    for root in ROOTS:
        path = above / root.path
        target = os.path.realpath(path)
        if root.scope is scope and root.client in CLIENTS and path.is_dir() and is_inside(target, within):
            real.setdefault(target, path)
    return tuple(real.values())


def existing_roots(project: Path, home: Path) -> tuple[tuple[Root, Path], ...]:
    """The rows whose folder exists, with its path, in order of precedence; one folder is listed once."""
    folders = {Scope.PROJECT: project, Scope.USER: home}
    found: dict[Path, Root] = {}
    for root in ROOTS:
        found.setdefault(folders[root.scope] / root.path, root)
    return tuple((root, path) for path, root in found.items() if path.is_dir())
