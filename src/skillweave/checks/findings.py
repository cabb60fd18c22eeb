"""What only checking looks at: texts and relations that load, and that no agent is helped by."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from skillweave.checks import codes
from skillweave.checks.lines import Lines
from skillweave.checks.unedited import is_scaffold_text
from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import first_of, nearest_names
from skillweave.formats.identity import id_of
from skillweave.frontmatter.codes import Code
from skillweave.frontmatter.yaml_text import Keys, Tree
from skillweave.registry import Snapshot
from skillweave.relations.rules import exclusions, requirements
from skillweave.skill import Relation, Skill, SkillText, Status
from skillweave.sources.tree import ARTIFACT_FOLDERS, SKILL_FILES

_LINK = re.compile(
    rf"(?<![\w/.$}}~-])(?:\./)?(?P<file>(?:{'|'.join(ARTIFACT_FOLDERS)})/(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z0-9]{{1,8}})(?![\w/*<{{-])"
)
"""A file of the skill as texts name it; a placeholder such as `references/<name>.md` is none."""
_NAMED = 3
_TEMPLATE = re.compile(
    r"replace with description|\[?TODO:? complete and informative explanation|insert instructions below"
    r"|^\[TODO\b|^TODO:?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
"""What the templates say that people begin with."""


def text_findings(skill: Skill, lines: Lines) -> Iterator[Diagnostic]:
    """What is wrong with the text of one skill."""
    place = Location(skill.origin.location) if skill.origin else None
    text = replace(skill.text, instructions=(skill.text.instructions or "").strip() or None)
    if text == SkillText():
        # It gives rules or documents, and no text by itself; or its source holds its text back, and says so.
        if skill.tools or skill.checkpoints or skill.artifacts or skill.status is Status.QUARANTINED:
            return
        message = f"skill {skill.id!r} has no instructions"
        yield _found(codes.EMPTY_TEXT, skill, place, message, "write below the front matter what the agent is to do")
        return
    yield from _template(skill, lines)
    yield from _dead_links(skill, lines)


def _template(skill: Skill, lines: Lines) -> Iterator[Diagnostic]:
    body = skill.text.instructions or ""
    described = _TEMPLATE.search(skill.description)
    written = _TEMPLATE.search(body)
    left = next((line for line in body.splitlines() if is_scaffold_text(line)), None)
    if described is not None:
        location = lines.of(skill, lambda keys, _: keys == ("description",))
        said = described[0]
    elif written is not None or left is not None:
        said = written[0] if written is not None else left or ""
        location = lines.in_text(skill, said)
    else:
        return
    message = f"words of a template stand in skill {skill.id!r} still: {said.strip()[:60]!r}"
    yield _found(codes.UNEDITED, skill, location, message, "write in their place what they ask for")


def _dead_links(skill: Skill, lines: Lines) -> Iterator[Diagnostic]:
    """One finding for all of them: where a folder was not copied along, every link into it is dead."""
    place = Path(skill.origin.location) if skill.origin else Path()
    if place.name not in SKILL_FILES or skill.text.instructions is None:
        return
    there = {artifact.id for artifact in skill.artifacts}
    named = dict.fromkeys(match["file"] for match in _LINK.finditer(skill.text.instructions))
    dead = [file for file in named if file not in there and not _is_there(place.parent, file)]
    if not dead:
        return
    verb = "is" if len(dead) == 1 else "are"
    message = f"{first_of([*map(repr, dead)], _NAMED)} {verb} named in the text of skill {skill.id!r}"
    message += " and not in its folder"
    fix = "copy the files into the skill's folder, or take their names out of the text"
    yield _found(codes.DEAD_LINK, skill, lines.in_text(skill, dead[0]), message, fix)


def _is_there(folder: Path, file: str) -> bool:
    try:
        return (folder / file).exists()
    except OSError:
        return False


def _found(code: Code, skill: Skill, place: Location | None, message: str, fix: str) -> Diagnostic:
    return Diagnostic(code.name, code.severity, message, fix, skill.id, place)


def relation_findings(skill: Skill, snapshot: Snapshot, lines: Lines) -> Iterator[Diagnostic]:
    """What is wrong with the relations of one skill."""
    excluded = {rule.skill: rule for rule in exclusions(skill)}
    for rule in requirements(skill):
        if rule.skill not in snapshot:
            near = nearest_names(rule.skill, snapshot)
            guess = f"did you mean {near[0]!r}? else " if near else ""
            message = f"skill {skill.id!r} requires {rule.skill!r}, and there is no such skill"
            fix = f"{guess}add that skill, or take the relation out"
            yield _of_rule(codes.REQUIRED_MISSING, skill, rule, lines, message, fix)
        if rule.skill in excluded:
            kind = excluded[rule.skill].kind.value
            message = f"skill {skill.id!r} requires {rule.skill!r} and says {kind!r} of the same skill"
            fix = "take one of the two relations out"
            yield _of_rule(codes.REQUIRED_EXCLUDED, skill, excluded[rule.skill], lines, message, fix)


def _of_rule(code: Code, skill: Skill, rule: Relation, lines: Lines, message: str, fix: str) -> Diagnostic:
    def says_so(_: Keys, value: Tree) -> bool:
        if not isinstance(value, Mapping) or not isinstance(value.get("skill"), str):
            return False
        return id_of(str(value["skill"])) == rule.skill and value.get("kind", rule.kind.value) == rule.kind.value

    return Diagnostic(code.name, code.severity, message, fix, skill.id, lines.of(skill, says_so))
