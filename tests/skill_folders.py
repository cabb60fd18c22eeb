"""Skill folders for tests, written where a test says."""

from collections.abc import Mapping
from pathlib import Path

from skillweave import Diagnostic
from skillweave.registry import Loaded


def skill_text(name: str, description: str = "Does a thing.", body: str = "body", **fields: str) -> str:
    """A clean SKILL.md."""
    more = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}\n"


def write_skill(folder: Path, text: str | None = None, files: Mapping[str, str] | None = None) -> Path:
    """A skill folder, called like the skill, with more files; returns the path of its SKILL.md."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    path.write_text(skill_text(folder.name) if text is None else text, encoding="utf-8")
    for relative, content in (files or {}).items():
        (folder / relative).parent.mkdir(parents=True, exist_ok=True)
        (folder / relative).write_text(content, encoding="utf-8")
    return path


def ids(loaded: Loaded) -> list[str]:
    """The loaded ids, in order."""
    return [skill.id for skill in loaded.skills]


def found(loaded: Loaded, code: str) -> list[Diagnostic]:
    """The findings of that code."""
    return [finding for finding in loaded.diagnostics if finding.code == code]


def places(loaded: Loaded) -> list[str]:
    """Where the loaded skills came from, in order."""
    return [skill.origin.location for skill in loaded.skills if skill.origin]
