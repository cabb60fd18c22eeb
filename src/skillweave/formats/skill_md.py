"""SKILL.md: the open specification and more, never silently (spec 1.2)."""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace

from skillweave.errors import InvalidSkill
from skillweave.formats import codes
from skillweave.formats.fields import Fields, Findings, SkillRead, shown
from skillweave.formats.headless import with_guessed_fields
from skillweave.formats.identity import digest_of_bytes
from skillweave.formats.native import (
    EXTENSION,
    Draft,
    Spelling,
    extension_id,
    leftovers,
    read_triggers,
    report_missing,
    take_extension,
    to_data,
    with_whole_hosts,
)
from skillweave.formats.near_keys import report_near_keys
from skillweave.formats.open_spec import (
    MAX_COMPATIBILITY,
    MAX_DESCRIPTION,
    MAX_NAME,
    SPEC_FIELDS,
    by_open_spec,
    check_open_spec,
    join_tools,
    name_fault,
    split_tools,
)
from skillweave.formats.strictness import Strictness as Strictness  # noqa: PLC0414 - read from here too
from skillweave.frontmatter.codes import Code
from skillweave.frontmatter.documents import FrontMatter, read_front_matter, tidy_body, write_front_matter
from skillweave.skill import ArtifactRef, FrozenJson, Json, Skill, ToolRules, Triggers, thaw

ALLOWED_TOOLS = "allowed-tools"

_OWN_KEYS = frozenset((*SPEC_FIELDS, "version", "triggers", "domain_tags", EXTENSION))
_BY_HAND = (
    *("version", "triggers", "domain_tags", "tools", "artifacts"),
    *("license", "compatibility", "metadata", "extra"),
)
"""The fields that have a place in SKILL.md, each with rules of its own."""
_COMMAND = re.compile(r"(?<![\w`!])!`[^`\n]+`")


def read_skill_md(
    data: bytes,
    *,
    path: str,
    folder: str,
    source: str,
    artifacts: tuple[ArtifactRef, ...] = (),
    strictness: Strictness = Strictness.LENIENT,
) -> SkillRead:
    """The skill in a SKILL.md's bytes; never raises. Findings and origin name `path`; `folder` holds the file."""
    front = read_front_matter(data, path=path)
    if strictness is Strictness.STRICT:
        front = replace(front, diagnostics=tuple(map(by_open_spec, front.diagnostics)))
    elif front.fields is None:
        front = with_guessed_fields(front, path, folder)
    findings = Findings(path, front.lines, first_line=1, found=list(front.diagnostics))
    if front.fields is None:
        return findings.outcome(None)
    if strictness is Strictness.STRICT:
        check_open_spec(front.fields, folder, findings)
        if findings.has_errors():
            return findings.outcome(None)
    draft = Draft(findings, {"artifacts": artifacts})
    fields = Fields(_unpacked(front.fields), findings)
    _take_front(draft, fields, folder)
    _take_body(draft, front.body or None, fields)
    _check_body(front, findings)
    return draft.finish(source=source, digest=digest_of_bytes(data))


def read_front_fields(fields: Fields, *, source: str, digest: str) -> SkillRead:
    """A skill written as a mapping with the keys of front matter, and its body under `instructions` or `body`."""
    draft = Draft(fields.findings)
    body = fields.text("instructions" if "instructions" in fields else "body")
    _take_front(draft, fields, "")
    _take_body(draft, body, fields)
    return draft.finish(source=source, digest=digest)


def _unpacked(front: Mapping[str, object]) -> Mapping[str, object]:
    """The front matter with what `to_strict_skill_md` put as JSON under `metadata` in its own place."""
    metadata = front.get("metadata")
    packed = metadata.get(EXTENSION) if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(packed, str) or EXTENSION in front:
        return front
    try:
        data = json.loads(packed)
    except (ValueError, RecursionError):
        return front
    if not isinstance(data, dict):
        return front
    return {**front, "metadata": {key: value for key, value in metadata.items() if key != EXTENSION}, EXTENSION: data}


def _split_tags(text: str) -> tuple[str, ...]:
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())


def _take_front(draft: Draft, fields: Fields, folder: str) -> None:
    _take_name(draft, fields, folder)
    draft.take_description(fields)
    description = draft.values["description"] = (draft.values["description"] or "").strip()
    if len(description) > MAX_DESCRIPTION:
        _report_length(description, MAX_DESCRIPTION, codes.DESCRIPTION_TOO_LONG, fields, "description")
    for key in ("license", "compatibility", "version"):
        if isinstance(fields.peek(key), Mapping | list | tuple):
            _keep_as_extra(fields, key, "text")
        else:
            draft.values[key] = fields.text(key)
    draft.values["triggers"] = read_triggers(fields, "triggers") if "triggers" in fields else None
    if not fields.absent(ALLOWED_TOOLS):
        draft.values["tools"] = _preapproved(fields)
    _take_metadata(draft, fields)
    take_extension(draft, fields)
    rest = fields.rest()
    if rest:
        report_near_keys(fields, rest)
        draft.keep(rest)


def _take_name(draft: Draft, fields: Fields, folder: str) -> None:
    name = fields.stated("name")
    if name is None:
        if folder.strip():
            message = f"is missing; the folder's, {folder[:100]!r}, is taken"
            fields.report(codes.NAME_MISSING, "name", message, "add `name:`")
            draft.set_identity(folder, fields, "name")
        else:
            report_missing(fields, "name")
        return
    draft.set_identity(name, fields, "name", extension_id(fields))
    if "id" not in draft.values:
        return
    if len(name) > MAX_NAME:
        _report_length(name, MAX_NAME, codes.NAME_TOO_LONG, fields, "name")
    if folder and name != folder and unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFKC", folder):
        message = f"is {name[:100]!r}, its folder is {folder[:100]!r}; the name counts"
        fields.report(codes.NAME_DIFFERS, "name", message, "make them equal")


def _take_metadata(draft: Draft, fields: Fields) -> None:
    """The metadata without the three keys that have fields of their own, unless those are stated beside it."""
    stated = fields.peek("metadata")
    inner = fields.mapping("metadata") if isinstance(stated, Mapping) else None
    if "domain_tags" in fields:
        draft.values["domain_tags"] = _tags(fields)
    elif inner is not None and "domain_tags" in inner:
        draft.values["domain_tags"] = _tags(inner)
    if inner is None:
        if not fields.absent("metadata"):
            _keep_as_extra(fields, "metadata", "a mapping")
        return
    if draft.values["version"] is None and isinstance(inner.peek("version"), str):
        draft.values["version"] = inner.text("version")
    metadata = draft.values["metadata"] = inner.rest()
    # Keywords as one text, parted by commas: the open specification has no other place for them.
    listed = metadata.get("triggers") if "triggers" not in fields else None
    keywords = _split_tags(listed) if isinstance(listed, str) else ()
    if keywords:
        draft.values["triggers"] = Triggers(keywords=keywords)
        del metadata["triggers"]


def _tags(fields: Fields) -> tuple[str, ...]:
    if isinstance(fields.peek("domain_tags"), str):
        return _split_tags(fields.text("domain_tags") or "")
    return fields.names("domain_tags") or ()


def _preapproved(fields: Fields) -> ToolRules | None:
    """`allowed-tools` means tools that need no approval; it says nothing of what else may be called."""
    stated = fields.peek(ALLOWED_TOOLS)
    if not isinstance(stated, str | list | tuple):
        _keep_as_extra(fields, ALLOWED_TOOLS, "one text")
        return None
    as_list = not isinstance(stated, str)
    text = ", ".join(fields.names(ALLOWED_TOOLS) or ()) if as_list else fields.text(ALLOWED_TOOLS)
    found = split_tools(text or "")
    if found.commas or (found.tools and as_list):
        how = "is a list" if as_list else "has commas between the tools"
        fix = "separate the tools with spaces"
        fields.report(codes.TOOLS_RESPELLED, ALLOWED_TOOLS, f"{how}; it was read as meant", fix)
    return ToolRules(preapproved=tools) if (tools := with_whole_hosts(fields, ALLOWED_TOOLS, found.tools)) else None


def _keep_as_extra(fields: Fields, key: str, expected: str) -> None:
    message = f"is {shown(fields.peek(key))}, not {expected}; it was kept, but means nothing"
    fields.report(codes.KEPT_AS_EXTRA, key, message, f"write {expected}, or use another key")


def _take_body(draft: Draft, body: str | None, fields: Fields) -> None:
    if body is None:
        return
    if draft.text.get("instructions") is None:
        draft.text["instructions"] = body
    else:
        message = "holds instructions, which count; the body was left out"
        fields.report(codes.FIELD_TWICE, EXTENSION, message, "remove one of them")


def _report_length(text: str, most: int, code: Code, fields: Fields, key: str) -> None:
    message = f"has {len(text)} characters; the open specification allows {most}"
    fields.report(code, key, message, "shorten it")


def _check_body(front: FrontMatter, findings: Findings) -> None:
    body = front.body
    # One character is found in a long text twenty times faster than two are.
    command = _first_command(body) if "!" in body and "!`" in body else None
    if command is not None:
        message = f"{command[0][:60]} in the body is never run; the model sees it as text"
        line = front.body_line + body.count("\n", 0, command.start())
        findings.report_at(codes.COMMAND_IN_BODY, line, message, "let the agent call a tool instead")
    nul = body.find("\0")
    if nul >= 0:
        line = front.body_line + body.count("\n", 0, nul)
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


def to_skill_md(skill: Skill) -> str:
    """The SKILL.md that reads back equal, without artifacts. Raises InvalidSkill for text that UTF-8 cannot hold."""
    fields = {**_open_fields(skill), **_own_fields(skill)}
    extension = _extension(skill)
    if extension:
        fields[EXTENSION] = extension
    return _written(skill, fields)


def to_open_skill_md(skill: Skill) -> str:
    """The SKILL.md in fields of the open specification only. Raises InvalidSkill for what has no place there."""
    skill = replace(skill, phrases=())  # they stand in a file beside the library
    fields, own, extension = _open_fields(skill), _own_fields(skill), _extension(skill)
    keywords = ", ".join(skill.triggers.keywords)
    if skill.triggers == Triggers(_split_tags(keywords)) and keywords and "triggers" not in skill.metadata:
        del own["triggers"]
        fields["metadata"] = {**_metadata(skill), "triggers": keywords}
    if own or extension:
        what = ", ".join((*own, *extension))
        raise InvalidSkill(f"the open specification has no place for {what} of skill {skill.id!r}; use to_skill_md")
    return _written(skill, fields)


def to_strict_skill_md(skill: Skill) -> str:
    """The SKILL.md that every reader of the open format accepts; reads back equal where the id may be a name there.

    What has no place in it stands as JSON under `metadata`, and a text that is too long in full there too. White space
    around the instructions is not kept: they are the body. Raises InvalidSkill for text that UTF-8 cannot hold.
    """
    body = tidy_body(skill.text.instructions or "") or None
    skill = replace(skill, phrases=(), text=replace(skill.text, instructions=body))
    fields, own, rest = _open_fields(skill), _own_fields(skill), _extension(skill)
    apart = {key: thaw(value) for key, value in skill.metadata.items() if not _is_strict(skill, key, value)}
    extra = {key: thaw(value) for key, value in skill.extra.items()}
    rest.update((key, value) for key, value in own.items() if key not in extra)
    rest.pop("json", None)
    if apart or extra:
        rest["json"] = {**({"metadata": apart} if apart else {}), **({"extra": extra} if extra else {})}
    name = skill.spelling or skill.id
    if name_fault(name):
        fields["name"] = re.sub("[^a-z0-9]+", "-", name.lower())[:MAX_NAME].strip("-") or "skill"
        rest = {"id": skill.id, **rest}
    for key, most in (("description", MAX_DESCRIPTION), ("compatibility", MAX_COMPATIBILITY)):
        text = str(fields.get(key, ""))
        if len(text) > most:
            fields[key], rest[key] = f"{text[: most - 3].rstrip()}...", text
        elif key in fields and not text.strip():
            rest[key] = fields.pop(key)
    plain = {key: value for key, value in _metadata(skill).items() if isinstance(value, str) and key != EXTENSION}
    packed = {EXTENSION: json.dumps(rest, ensure_ascii=False, sort_keys=True)} if rest else {}
    if plain or packed:
        fields["metadata"] = {**plain, **packed}
    else:
        fields.pop("metadata", None)
    return _written(skill, fields)


def _is_strict(skill: Skill, key: str, value: FrozenJson) -> bool:
    return isinstance(value, str) and key != EXTENSION and _is_plain_metadata(skill, key, value)


def _written(skill: Skill, fields: Mapping[str, Json]) -> str:
    try:
        return write_front_matter(fields, _body(skill))
    except ValueError as error:
        raise InvalidSkill(f"skill {skill.id!r} cannot be written: {error}") from error


def _open_fields(skill: Skill) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "name": skill.spelling or skill.id,
        "description": skill.description,
        "license": skill.license,
        "compatibility": skill.compatibility,
        ALLOWED_TOOLS: _listed_tools(skill) or None,
        "metadata": _metadata(skill) or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _own_fields(skill: Skill) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    if skill.version is not None and "version" in skill.metadata:
        fields["version"] = skill.version
    if skill.domain_tags and not _tags_in_metadata(skill):
        fields["domain_tags"] = list(skill.domain_tags)
    if skill.triggers != Triggers():
        only_keywords = skill.triggers == Triggers(keywords=skill.triggers.keywords)
        fields["triggers"] = list(skill.triggers.keywords) if only_keywords else to_data(skill.triggers)
    fields.update((key, thaw(value)) for key, value in skill.extra.items() if _is_plain_extra(key, value))
    return fields


def _metadata(skill: Skill) -> dict[str, Json]:
    metadata = {key: thaw(value) for key, value in skill.metadata.items() if _is_plain_metadata(skill, key, value)}
    if skill.version is not None and "version" not in skill.metadata:
        metadata["version"] = skill.version
    if _tags_in_metadata(skill):
        metadata["domain_tags"] = ", ".join(skill.domain_tags)
    return metadata


def _extension(skill: Skill) -> dict[str, Json]:
    extension = leftovers(skill, Spelling.FRONT_MATTER, (*_BY_HAND, "instructions") if _body(skill) else _BY_HAND)
    if skill.description != skill.description.strip():
        extension["description"] = skill.description
    if skill.tools is not None:
        listed = _listed_tools(skill)
        tools = replace(skill.tools, preapproved=()) if listed else skill.tools
        if tools != ToolRules() or not listed:
            extension["tools"] = to_data(tools)
    # What YAML without types would change stands apart: numbers, truth values, nulls, keys that mean something else.
    metadata = {key: thaw(value) for key, value in skill.metadata.items() if not _is_plain_metadata(skill, key, value)}
    extra = {key: thaw(value) for key, value in skill.extra.items() if not _is_plain_extra(key, value)}
    if metadata or extra:
        extension["json"] = {**({"metadata": metadata} if metadata else {}), **({"extra": extra} if extra else {})}
    return extension


def _body(skill: Skill) -> str:
    """The body; instructions that begin or end in odd white space stand elsewhere."""
    instructions = skill.text.instructions or ""
    return instructions if tidy_body(instructions) == instructions else ""


def _listed_tools(skill: Skill) -> str | None:
    return join_tools(skill.tools.preapproved) if skill.tools is not None and skill.tools.preapproved else None


def _tags_in_metadata(skill: Skill) -> bool:
    if not skill.domain_tags or "domain_tags" in skill.metadata:
        return False
    return _split_tags(", ".join(skill.domain_tags)) == skill.domain_tags


def _is_plain_metadata(skill: Skill, key: str, value: FrozenJson) -> bool:
    stated = {"version": skill.version is not None, "domain_tags": bool(skill.domain_tags)}
    stated["triggers"] = skill.triggers != Triggers()
    return stated.get(key, True) and _holds_text_only(value)


def _is_plain_extra(key: str, value: FrozenJson) -> bool:
    return key not in _OWN_KEYS and _holds_text_only(value)


def _holds_text_only(value: FrozenJson) -> bool:
    """Whether every scalar in the data is text, so that YAML without types carries it."""
    if isinstance(value, Mapping):
        return all(map(_holds_text_only, value.values()))
    return all(map(_holds_text_only, value)) if isinstance(value, tuple) else isinstance(value, str)
