"""The skills of a graph in the data form: an id, or a mapping that says more (spec 3.1)."""

from collections.abc import Mapping

from skillweave.formats.fields import as_json
from skillweave.frontmatter import resolved
from skillweave.graph.data.bounds import LONGEST_BODY, LONGEST_DESCRIPTION, LONGEST_ID, MOST_ITEMS
from skillweave.graph.data.shape import (
    inside,
    require_id,
    require_mapping,
    require_text,
    shown,
    wrong,
)
from skillweave.graph.declared import GraphSkill
from skillweave.skill import FrozenJson, freeze, freeze_mapping, thaw

SKILL_KEYS = ("id", "description", "tools", "allowed_tools", "body", "instructions")
"""The keys that mean something; any other is kept as it stands."""

_FORM = "write a skill's id, or {id, description, tools, body}"


def read_skill(value: object, place: str) -> GraphSkill:
    """The skill at that place; raises InvalidGraph."""
    if isinstance(value, str):
        return GraphSkill(require_id(value, place))
    data = require_mapping(value, place, _FORM)
    if "id" not in data:
        raise wrong(place, "the skill has no `id`", _FORM)
    tools = _one_of(data, "tools", "allowed_tools", place)
    body = _one_of(data, "body", "instructions", place)
    return GraphSkill(
        id=require_id(data["id"], inside(place, "id")),
        description=_prose(data, "description", place, LONGEST_DESCRIPTION),
        tools=None if tools is None else _tools(data[tools], inside(place, tools)),
        body="" if body is None else _prose(data, body, place, LONGEST_BODY),
        extra=freeze_mapping({key: thaw(_carried(data[key], inside(place, key))) for key in data if _is_extra(key)}),
    )


def write_skill(skill: GraphSkill, place: str) -> object:
    """The skill as plain data, its id alone where there is no more; raises InvalidGraph for an extra key of ours."""
    clash = next((key for key in skill.extra if key in SKILL_KEYS), None)
    if clash is not None:
        raise wrong(place, f"the extra key {clash!r} of skill {skill.id[:LONGEST_ID]!r} has a meaning", "rename it")
    data: dict[str, object] = {"id": skill.id}
    if skill.description:
        data["description"] = skill.description
    if skill.tools is not None:
        data["tools"] = list(skill.tools)
    if skill.body:
        data["body"] = skill.body
    data.update((key, thaw(value)) for key, value in skill.extra.items())
    return data if len(data) > 1 else skill.id


def _is_extra(key: str) -> bool:
    return key not in SKILL_KEYS


def _one_of(data: Mapping[str, object], key: str, alias: str, place: str) -> str | None:
    if key in data and alias in data:
        raise wrong(place, f"`{key}` and `{alias}` are the same and both stand here", "keep one of them")
    return next((name for name in (key, alias) if name in data), None)


def _prose(data: Mapping[str, object], key: str, place: str, longest: int) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise wrong(inside(place, key), f"it is {shown(value)}, and text is expected", "write text, or remove the key")
    if len(value) > longest:
        rule = f"the text has {len(value):,} characters, and {longest:,} are allowed"
        raise wrong(inside(place, key), rule, "shorten it")
    return str(value)


def _tools(value: object, place: str) -> tuple[str, ...]:
    fix = "write a list of tools' names; [] stands for none at all"
    if not isinstance(value, list | tuple):
        raise wrong(place, f"it is {shown(value)}, and a list is expected", fix)
    if len(value) > MOST_ITEMS:
        raise wrong(place, f"it has {len(value):,} items, and {MOST_ITEMS:,} are allowed", "shorten it")
    return tuple(require_text(tool, inside(place, number), fix) for number, tool in enumerate(value))


def _carried(value: object, place: str) -> FrozenJson:
    try:
        as_json(value)  # which says what JSON has not, and stops where data is nested without end
        return freeze(as_json(resolved(value)))
    except ValueError as error:
        raise wrong(place, f"it holds {error}", "write plain JSON data, or remove the key") from error
