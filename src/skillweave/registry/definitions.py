"""What is defined in code: a skill, and the content of its artifacts."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from skillweave.diagnostics import Diagnostic
from skillweave.errors import ArtifactNotFound, InvalidSkill
from skillweave.registry.source import media_type_of
from skillweave.skill import ArtifactRef, Origin, Skill, is_skill_id

Definition: TypeAlias = Skill | Mapping[str, Any]
"""A skill as a value, or as a mapping in any of the spellings."""
Contents: TypeAlias = Mapping[str, str | bytes]
"""The content of artifacts by their ids."""

_ARTIFACT_KEYS = ("artifacts", "tier3_artifact_refs")


@dataclass(frozen=True, slots=True)
class Defined:
    """A skill made in code, with the content of its artifacts and what was found in its definition."""

    skill: Skill
    contents: Mapping[str, bytes] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    def with_contents(self, contents: Contents) -> "Defined":
        """Adds content of artifacts, and lists new ones. Raises InvalidSkill for text that is not Unicode."""
        if not contents:
            return self
        held = {artifact: _bytes(self.skill.id, artifact, content) for artifact, content in contents.items()}
        return Defined(
            replace(self.skill, artifacts=_refs(self.skill, held)),
            MappingProxyType({**self.contents, **held}),
            self.diagnostics,
        )

    def with_distinct_digest(self, known: Iterable[Skill]) -> "Defined":
        """Gives the skill a digest of its own if a known skill that differs has its digest."""
        alike = (one for one in known if one.digest == self.skill.digest)
        if all(replace(self.skill, origin=one.origin, artifacts=one.artifacts) == one for one in alike):
            return self
        from skillweave.formats.identity import digest_of
        from skillweave.formats.native import to_dict

        return replace(self, skill=replace(self.skill, digest=digest_of(to_dict(self.skill))))

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """What stands in one artifact; raises ArtifactNotFound."""
        if artifact not in self.contents:
            listed = any(ref.id == artifact for ref in skill.artifacts)
            why = "it was defined without content" if listed else "the skill does not list it"
            raise ArtifactNotFound(skill.id, artifact, why)
        return self.contents[artifact]


def define(definition: Definition, source: str) -> Defined:
    """The definition made unchangeable. Raises InvalidSkill for an id that is none and for any error in a mapping."""
    if isinstance(definition, Skill):
        return _value(definition, source)
    if isinstance(definition, Mapping):
        return _mapping(definition, source)
    raise InvalidSkill(f"a {type(definition).__name__} is no skill; give a Skill, or a mapping in one of its spellings")


def lift_contents(definition: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, str]]:
    """The definition without the `content` of its artifacts, and that content by artifact id."""
    contents: dict[str, str] = {}
    lifted = dict(definition)
    for key in _ARTIFACT_KEYS:
        if isinstance(definition.get(key), list | tuple):
            lifted[key] = [_lift(entry, contents) for entry in definition[key]]
    return (lifted, contents) if contents else (definition, contents)


def _lift(entry: object, contents: dict[str, str]) -> object:
    if (
        not isinstance(entry, Mapping)
        or not isinstance(entry.get("content"), str)
        or not isinstance(entry.get("id"), str)
    ):
        return entry
    artifact = str(entry["id"])
    contents[artifact] = str(entry["content"])
    rest = {key: value for key, value in entry.items() if key != "content"}
    return {"media_type": media_type_of(artifact), **rest}


def _value(skill: Skill, source: str) -> Defined:
    from skillweave.formats.fields import Findings, report_host_keys, report_places
    from skillweave.formats.identity import digest_of
    from skillweave.formats.native import to_dict

    if not is_skill_id(skill.id):
        raise InvalidSkill(
            f"{skill.id!r} is no skill id, which has 1 to 100 ASCII letters, digits, `_` or `-`; rename the skill"
        )
    skill = cast("Skill", _frozen(skill))
    digest = skill.digest or digest_of(to_dict(skill))
    findings = Findings(source)
    report_host_keys(skill.extra, findings)
    report_places(skill.text, findings)
    made = replace(skill, digest=digest, origin=skill.origin or Origin(source, source))
    return Defined(made, diagnostics=findings.outcome(made).diagnostics)


def _mapping(definition: Mapping[str, Any], source: str) -> Defined:
    from skillweave.formats.fields import require_skill
    from skillweave.formats.spelling import read_any

    mapping, contents = lift_contents(definition)
    read = read_any(mapping, source=source, path=source)
    return Defined(require_skill(read), diagnostics=read.diagnostics).with_contents(contents)


def _frozen(value: object) -> object:
    """The value with tuples for lists and read-only mappings for dicts, at every depth."""
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, Mapping):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{part.name: _frozen(getattr(value, part.name)) for part in fields(value)})
    return value


def _refs(skill: Skill, held: Mapping[str, bytes]) -> tuple[ArtifactRef, ...]:
    refs = {ref.id: ref for ref in skill.artifacts}
    for artifact, data in held.items():
        known = refs.get(artifact) or ArtifactRef(artifact, posixpath.basename(artifact), media_type_of(artifact), 0)
        refs[artifact] = replace(known, size=len(data))
    return tuple(refs.values())


def _bytes(skill: str, artifact: str, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode()
    except UnicodeEncodeError as error:
        raise InvalidSkill(
            f"artifact {artifact!r} of skill {skill!r} is not Unicode text at character {error.start}; "
            "correct it, or give bytes"
        ) from None
