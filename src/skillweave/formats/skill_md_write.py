"""A skill as SKILL.md: the open specification's fields first, then ours, the rest under `x-skillweave`."""

from collections.abc import Mapping

from skillweave.errors import InvalidSkill
from skillweave.formats.allowed_tools import join_tools
from skillweave.formats.data import holds_text_only
from skillweave.formats.extension import EXTENSION, leftovers
from skillweave.formats.native_write import tools_to_dict, triggers_to_dict
from skillweave.formats.open_spec import SPEC_FIELDS
from skillweave.formats.skill_md import split_tags
from skillweave.frontmatter import tidy_body, write_front_matter
from skillweave.skill import FrozenJson, Json, Skill, Triggers, thaw

_OWN_FIELDS = frozenset((*SPEC_FIELDS, "version", "triggers", "domain_tags", EXTENSION))
_PLACED = frozenset(
    ("version", "triggers", "domain_tags", "tools", "artifacts", "license", "compatibility", "metadata", "extra")
)


def to_skill_md(skill: Skill) -> str:
    """The text of a SKILL.md that `read_skill_md` reads back equal; artifacts are files beside it and are not written.

    Raises InvalidSkill for text that UTF-8 cannot carry.
    """
    body = _body(skill)
    fields = {
        "name": skill.spelling or skill.id,
        "description": skill.description,
        **_open_fields(skill),
        **_own_fields(skill),
    }
    extension = _extension(skill, placed_text=("instructions",) if body else ())
    if extension:
        fields[EXTENSION] = extension
    return _written(skill, fields, body)


def to_open_skill_md(skill: Skill) -> str:
    """The same with nothing in it but what the open specification knows, so that strict reading takes it.

    Keywords are one text under `metadata.triggers`. Raises InvalidSkill for whatever else has no place there.
    """
    fields = {"name": skill.spelling or skill.id, "description": skill.description, **_open_fields(skill)}
    body = _body(skill)
    own, extension = _own_fields(skill), _extension(skill, placed_text=("instructions",) if body else ())
    keywords = ", ".join(skill.triggers.keywords)
    if skill.triggers == Triggers(split_tags(keywords)) and keywords and "triggers" not in skill.metadata:
        del own["triggers"]
        fields["metadata"] = {**_metadata(skill), "triggers": keywords}
    if own or extension:
        what = ", ".join((*own, *extension))
        raise InvalidSkill(f"the open specification has no place for {what} of skill {skill.id!r}; use to_skill_md")
    return _written(skill, fields, body)


def _written(skill: Skill, fields: Mapping[str, Json], body: str) -> str:
    try:
        return write_front_matter(fields, body)
    except ValueError as error:
        raise InvalidSkill(f"skill {skill.id!r} cannot be written: {error}") from error


def _open_fields(skill: Skill) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    if skill.license is not None:
        fields["license"] = skill.license
    if skill.compatibility is not None:
        fields["compatibility"] = skill.compatibility
    tools = _preapproved(skill)
    if tools:
        fields["allowed-tools"] = tools
    metadata = _metadata(skill)
    if metadata:
        fields["metadata"] = metadata
    return fields


def _own_fields(skill: Skill) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    if skill.version is not None and "version" in skill.metadata:
        fields["version"] = skill.version
    if skill.domain_tags and not _tags_in_metadata(skill):
        fields["domain_tags"] = list(skill.domain_tags)
    if skill.triggers != Triggers():
        only_keywords = skill.triggers == Triggers(keywords=skill.triggers.keywords)
        fields["triggers"] = list(skill.triggers.keywords) if only_keywords else triggers_to_dict(skill.triggers)
    fields.update((key, thaw(value)) for key, value in skill.extra.items() if _is_plain_extra(key, value))
    return fields


def _metadata(skill: Skill) -> dict[str, Json]:
    metadata = {key: thaw(value) for key, value in skill.metadata.items() if _is_plain_metadata(skill, key, value)}
    if skill.version is not None and "version" not in skill.metadata:
        metadata["version"] = skill.version
    if _tags_in_metadata(skill):
        metadata["domain_tags"] = ", ".join(skill.domain_tags)
    return metadata


def _extension(skill: Skill, placed_text: tuple[str, ...]) -> dict[str, Json]:
    extension = leftovers(skill, placed=_PLACED, placed_text=placed_text)
    if skill.description != skill.description.strip():
        extension["description"] = skill.description
    if skill.tools is not None:
        tools = tools_to_dict(skill.tools)
        if _preapproved(skill):
            del tools["preapproved"]
        if tools or not _preapproved(skill):
            extension["tools"] = tools
    typed = _typed_data(skill)
    if typed:
        extension["json"] = typed
    return extension


def _typed_data(skill: Skill) -> dict[str, Json]:
    """Data with numbers, truth values and nulls, and keys that would be taken for others."""
    metadata = {key: thaw(value) for key, value in skill.metadata.items() if not _is_plain_metadata(skill, key, value)}
    extra = {key: thaw(value) for key, value in skill.extra.items() if not _is_plain_extra(key, value)}
    return {**({"metadata": metadata} if metadata else {}), **({"extra": extra} if extra else {})}


def _body(skill: Skill) -> str:
    """The body; instructions that begin or end in odd white space stand elsewhere."""
    instructions = skill.text.instructions or ""
    return instructions if tidy_body(instructions) == instructions else ""


def _preapproved(skill: Skill) -> str | None:
    return join_tools(skill.tools.preapproved) if skill.tools is not None and skill.tools.preapproved else None


def _tags_in_metadata(skill: Skill) -> bool:
    if not skill.domain_tags or "domain_tags" in skill.metadata:
        return False
    return split_tags(", ".join(skill.domain_tags)) == skill.domain_tags


def _is_plain_metadata(skill: Skill, key: str, value: FrozenJson) -> bool:
    stated = {"version": skill.version is not None, "domain_tags": bool(skill.domain_tags)}
    stated["triggers"] = skill.triggers != Triggers()
    return stated.get(key, True) and holds_text_only(thaw(value))


def _is_plain_extra(key: str, value: FrozenJson) -> bool:
    return key not in _OWN_FIELDS and holds_text_only(thaw(value))
