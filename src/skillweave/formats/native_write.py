"""The Skill's own nested form, written: what is at its default is left out."""

from collections.abc import Iterable

from skillweave.skill import (
    ArtifactRef,
    Checkpoint,
    Json,
    OutputContract,
    Relation,
    RuleList,
    Skill,
    SkillText,
    Status,
    ToolRules,
    Triggers,
    thaw,
)


def to_dict(skill: Skill) -> dict[str, Json]:
    """The skill as plain JSON data that `from_dict` reads back equal; origin and digest are no part of it."""
    return {
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        **_stated(spelling=skill.spelling, version=skill.version),
        **({} if skill.status is Status.ACTIVE else {"status": skill.status.value}),
        **_filled(triggers=triggers_to_dict(skill.triggers), domain_tags=_list(skill.domain_tags)),
        **_filled(text=text_to_dict(skill.text)),
        **({} if skill.tools is None else {"tools": tools_to_dict(skill.tools)}),
        **_filled(
            relations=[relation_to_dict(relation) for relation in skill.relations],
            checkpoints=[checkpoint_to_dict(checkpoint) for checkpoint in skill.checkpoints],
            emits=_list(skill.emits),
            artifacts=[artifact_to_dict(artifact) for artifact in skill.artifacts],
        ),
        **_stated(license=skill.license, compatibility=skill.compatibility),
        **_filled(metadata=thaw(skill.metadata), extra=thaw(skill.extra)),
    }


def triggers_to_dict(triggers: Triggers) -> dict[str, Json]:
    """The lists of triggers that are not empty."""
    return _filled(
        keywords=_list(triggers.keywords),
        verbs=_list(triggers.verbs),
        patterns=_list(triggers.patterns),
        examples=_list(triggers.examples),
        never=_list(triggers.never),
    )


def text_to_dict(text: SkillText) -> dict[str, Json]:
    """The parts of the text that are there."""
    return {
        **_stated(details=text.details, instructions=text.instructions),
        **_filled(
            steps=_list(text.steps), requirements=_list(text.requirements), postconditions=_list(text.postconditions)
        ),
        **_stated(output_format=text.output_format),
        **({} if text.output_contract is None else {"output_contract": contract_to_dict(text.output_contract)}),
    }


def contract_to_dict(contract: OutputContract) -> dict[str, Json]:
    """`{type, schema}`, the schema only where there is one."""
    return {"type": contract.type, **({} if contract.schema is None else {"schema": thaw(contract.schema)})}


def tools_to_dict(tools: ToolRules) -> dict[str, Json]:
    """`{allowed, forbidden, preapproved}`; `allowed` is there when it is stated, even empty (V005)."""
    return {
        **({} if tools.allowed is None else {"allowed": _list(tools.allowed)}),
        **_filled(forbidden=_list(tools.forbidden), preapproved=_list(tools.preapproved)),
    }


def relation_to_dict(relation: Relation) -> dict[str, Json]:
    """`{kind, skill, reason, list}`."""
    return {
        "kind": relation.kind.value,
        "skill": relation.skill,
        **_stated(reason=relation.reason),
        **({} if relation.list is RuleList.COMPOSABILITY else {"list": relation.list.value}),
    }


def checkpoint_to_dict(checkpoint: Checkpoint) -> Json:
    """A bare name where nothing else is stated, else `{name, before, blocking, reviewer, asks}`."""
    stated = {
        **_stated(before=checkpoint.before),
        **({} if checkpoint.blocking else {"blocking": False}),
        **_stated(reviewer=checkpoint.reviewer, asks=checkpoint.asks),
    }
    return {"name": checkpoint.name, **stated} if stated else checkpoint.name


def artifact_to_dict(artifact: ArtifactRef) -> Json:
    """`{id, name, media_type, size, content_hash, token_estimate}`, the last two only where they are known."""
    return {
        "id": artifact.id,
        "name": artifact.name,
        "media_type": artifact.media_type,
        "size": artifact.size,
        **_stated(content_hash=artifact.content_hash, token_estimate=artifact.token_estimate),
    }


def _list(texts: Iterable[str]) -> list[Json]:
    return list(texts)


def _stated(**values: Json) -> dict[str, Json]:
    return {key: value for key, value in values.items() if value is not None}


def _filled(**values: Json) -> dict[str, Json]:
    return {key: value for key, value in values.items() if value}
