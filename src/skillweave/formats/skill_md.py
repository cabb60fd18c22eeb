"""SKILL.md: the open specification and more, never silently (spec 1.2)."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from skillweave.errors import InvalidSkill
from skillweave.formats import codes
from skillweave.formats.fields import Fields, Findings, SkillRead, holds_text_only
from skillweave.formats.identity import digest_of_bytes
from skillweave.formats.native import (
    EXTENSION,
    Draft,
    call,
    extension_id,
    fill_extension,
    leftovers,
    read_triggers,
    report_missing,
    stated_name,
    take_description,
    tools_to_dict,
    triggers_to_dict,
)
from skillweave.formats.open_spec import (
    MAX_DESCRIPTION,
    MAX_NAME,
    SPEC_FIELDS,
    by_open_spec,
    check_open_spec,
    join_tools,
    split_tools,
)
from skillweave.frontmatter import Code, FrontMatter, read_front_matter, tidy_body, write_front_matter
from skillweave.skill import ArtifactRef, FrozenJson, Json, Skill, SkillText, ToolRules, Triggers, thaw

_COMMAND = re.compile(r"(?<![\w`!])!`[^`\n]+`")


class Strictness(Enum):
    """Lenient loads all that has front matter and a description; strict what the open specification accepts."""

    LENIENT = "lenient"
    STRICT = "strict"


def read_skill_md(
    data: bytes,
    *,
    path: str,
    folder: str,
    source: str,
    artifacts: tuple[ArtifactRef, ...] = (),
    strictness: Strictness = Strictness.LENIENT,
) -> SkillRead:
    """The skill in a SKILL.md's bytes; never raises, whatever they are.

    `folder` is the name of the folder that holds the file, `path` the place that diagnostics and the origin name.
    Every repair, and the reason of a skip, is a diagnostic with line and fix.
    """
    front = read_front_matter(data, path=path)
    found = front.diagnostics
    if strictness is Strictness.STRICT:
        found = tuple(by_open_spec(diagnostic) for diagnostic in found)
    findings = Findings(path, front.lines, first_line=1, found=found)
    if front.fields is None:
        return findings.outcome(None)
    if strictness is Strictness.STRICT:
        check_open_spec(front.fields, folder, findings)
        if findings.has_errors():
            return findings.outcome(None)
    draft = Draft(findings, artifacts=artifacts)
    fields = Fields(front.fields, findings)
    _fill(draft, fields, folder)
    _take_body(draft, front.body or None, fields)
    _check_commands(front, findings)
    if b"\0" in data:
        _report_nul(front, findings)
    return draft.finish(source=source, digest=digest_of_bytes(data))


def read_front_fields(fields: Fields, *, source: str, digest: str) -> SkillRead:
    """A skill written as a mapping with the keys of front matter, and its body under `instructions` or `body`."""
    draft = Draft(fields.findings)
    body = fields.text("instructions" if "instructions" in fields else "body")
    _fill(draft, fields, "")
    _take_body(draft, body, fields)
    return draft.finish(source=source, digest=digest)


def split_tags(text: str) -> tuple[str, ...]:
    """The tags in one text, parted by commas."""
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())


def _fill(draft: Draft, fields: Fields, folder: str) -> None:
    _take_name(draft, fields, folder)
    take_description(draft, fields)
    if draft.description is not None:
        draft.description = draft.description.strip()
        _check_length(draft.description, MAX_DESCRIPTION, codes.DESCRIPTION_TOO_LONG, fields, "description")
    draft.license = _text_or_extra(fields, "license")
    draft.compatibility = _text_or_extra(fields, "compatibility")
    draft.version = _text_or_extra(fields, "version")
    draft.triggers = read_triggers(fields, draft.triggers)
    draft.tools = _preapproved(fields)
    _take_metadata(draft, fields)
    fill_extension(draft, fields)
    draft.extra.update(fields.rest())


def _take_name(draft: Draft, fields: Fields, folder: str) -> None:
    name = stated_name(fields, "name")
    if name is not None:
        call(draft, name, fields, "name", extension_id(fields))
        if draft.id is None:
            return
        _check_length(name, MAX_NAME, codes.NAME_TOO_LONG, fields, "name")
        if folder and unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFKC", folder):
            message = f"is {name[:100]!r}, its folder is {folder[:100]!r}; the name counts"
            fields.report(codes.NAME_DIFFERS, "name", message, "make them equal")
    elif folder.strip():
        fields.report(
            codes.NAME_MISSING, "name", f"is missing; the folder's, {folder[:100]!r}, is taken", "add `name:`"
        )
        call(draft, folder, fields, "name")
    else:
        report_missing(fields, "name")


def _take_metadata(draft: Draft, fields: Fields) -> None:
    """The metadata without the three keys that have fields of their own, unless those are stated beside it."""
    inner = fields.mapping("metadata") if fields.holds_mapping("metadata") else None
    if "domain_tags" in fields:
        draft.domain_tags = _tags(fields)
    elif inner is not None and "domain_tags" in inner:
        draft.domain_tags = _tags(inner)
    if inner is not None:
        if "version" in inner and draft.version is None and inner.holds_text("version"):
            draft.version = inner.text("version")
        draft.metadata = inner.rest()
        if "triggers" not in fields:
            _take_keywords(draft)
    elif not fields.absent("metadata"):
        _keep_as_extra(fields, "metadata", "a mapping")


def _take_keywords(draft: Draft) -> None:
    """Keywords as one text in the metadata, parted by commas: the open specification has no other place for them."""
    text = draft.metadata.get("triggers")
    keywords = split_tags(text) if isinstance(text, str) else ()
    if keywords:
        draft.triggers = Triggers(keywords=keywords)
        del draft.metadata["triggers"]


def _tags(fields: Fields) -> tuple[str, ...]:
    if fields.holds_text("domain_tags"):
        return split_tags(fields.text("domain_tags") or "")
    return fields.names("domain_tags") or ()


def _preapproved(fields: Fields) -> ToolRules | None:
    """`allowed-tools` means tools that need no approval; it says nothing of what else may be called."""
    key = "allowed-tools"
    if fields.absent(key):
        return None
    if not fields.holds_text(key) and not fields.holds_list(key):
        _keep_as_extra(fields, key, "one text")
        return None
    stated = fields.text(key) if fields.holds_text(key) else ", ".join(fields.names(key) or ())
    found = split_tools(stated or "")
    if found.commas or (found.tools and fields.holds_list(key)):
        how = "a list" if fields.holds_list(key) else "parted by commas"
        fields.report(codes.TOOLS_RESPELLED, key, f"is {how}; it was read as meant", "part the tools by spaces")
    return ToolRules(preapproved=found.tools) if found.tools else None


def _text_or_extra(fields: Fields, key: str) -> str | None:
    if fields.holds_text(key) or not (fields.holds_mapping(key) or fields.holds_list(key)):
        return fields.text(key)
    _keep_as_extra(fields, key, "text")
    return None


def _keep_as_extra(fields: Fields, key: str, expected: str) -> None:
    message = f"is {fields.shown(key)}, not {expected}; it was kept, but means nothing"
    fields.report(codes.KEPT_AS_EXTRA, key, message, f"write {expected}, or use another key")


def _take_body(draft: Draft, body: str | None, fields: Fields) -> None:
    if body is None:
        return
    if draft.text == SkillText():
        draft.text = SkillText(instructions=body)
    elif draft.text.instructions is None:
        draft.text = replace(draft.text, instructions=body)
    else:
        message = "holds instructions, which count; the body was left out"
        fields.report(codes.FIELD_TWICE, EXTENSION, message, "remove one of them")


def _check_length(text: str, most: int, code: Code, fields: Fields, key: str) -> None:
    if len(text) > most:
        message = f"has {len(text)} characters; the open specification allows {most}"
        fields.report(code, key, message, "shorten it")


def _check_commands(front: FrontMatter, findings: Findings) -> None:
    body = front.body
    # One character is found in a long text twenty times faster than two are.
    if "!" not in body or "!`" not in body:
        return
    command = _first_command(body)
    if command is not None:
        message = f"{command[0][:60]} in the body is never run; the model sees it as text"
        line = front.body_line + body.count("\n", 0, command.start())
        findings.report_at(codes.COMMAND_IN_BODY, line, message, "let the agent call a tool instead")


def _report_nul(front: FrontMatter, findings: Findings) -> None:
    line = front.body_line + front.body.count("\n", 0, front.body.find("\0"))
    findings.report_at(codes.CONTROL_CHARACTERS, line, "the body holds NUL characters", "remove them")


def _first_command(body: str) -> re.Match[str] | None:
    """The first whose backtick begins code: an even number of others stands before it in its line."""
    counted = ticks = 0
    at = body.find("!`")
    while at >= 0:
        line = body.rfind("\n", counted, at) + 1
        if line:
            counted, ticks = line, 0
        ticks += body.count("`", counted, at)
        counted = at
        command = _COMMAND.match(body, at) if ticks % 2 == 0 else None
        if command is not None:
            return command
        at = body.find("!`", at + 1)
    return None


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
    tools = _written_tools(skill)
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
        if _written_tools(skill):
            del tools["preapproved"]
        if tools or not _written_tools(skill):
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


def _written_tools(skill: Skill) -> str | None:
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
