"""What the tests of the pack's texts read: its documents by name, and all that a skill says."""

from importlib.resources import files
from typing import Any

from skillweave import Skill
from skillweave.frontmatter.documents import read_yaml
from skillweave.frontmatter.yaml_text import resolved

FOLDER = files("skillweave_texas_rrc")


def document(name: str) -> Any:
    read = read_yaml((FOLDER / "artifacts" / name).read_text(encoding="utf-8"), path=name)
    assert read.diagnostics == ()
    return resolved(read.data)


def facts(name: str) -> dict[str, Any]:
    return {fact["id"]: fact for fact in document(name)["facts"]}


def said(skill: Skill) -> str:
    return " ".join(
        (skill.text.details or "", *skill.text.steps, *skill.text.requirements, skill.text.output_format or "")
    )
