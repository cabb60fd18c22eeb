"""What a telemetry system is told of an event: names and figures, never a text of a message, a skill or a payload.

`gen_ai.conversation.id`, `gen_ai.tool.name` and `gen_ai.tool.call.id` are OpenTelemetry's names, `gen_ai.skill.name`
is the one that is proposed there (open-telemetry/semantic-conventions-genai, 498); `gen_ai.skill.*` beyond it and
`skillweave.*` are ours.
"""

from collections.abc import Mapping
from typing import TypeAlias

from skillweave.events.checkpoints import CheckpointDecided, CheckpointPending
from skillweave.events.cursor import CursorMoved
from skillweave.events.declared import Announced
from skillweave.events.event import Event
from skillweave.events.skills import Given, SkillEvicted
from skillweave.events.spawns import SpawnRejected, SpawnStarted, SpawnValidated
from skillweave.events.tools import ToolBlocked
from skillweave.events.turns import TurnDecided

Attribute: TypeAlias = str | int | float | tuple[str, ...]

CONVERSATION = "gen_ai.conversation.id"
OUTCOME = "gen_ai.skill.outcome"
PLACEMENT = "skillweave.placement"
DELIVERY = "skillweave.delivery"
CODE = "skillweave.code"


def attributes_of(event: Event) -> Mapping[str, Attribute]:
    """The attributes of one event by name; what has no value is left out."""
    return sendable(_named(event))


def turn_attributes(event: Event, decided: TurnDecided) -> Mapping[str, Attribute]:
    """The attributes of a turn's span."""
    known: dict[str, Attribute | None] = {
        CONVERSATION: event.conversation,
        "skillweave.turn.id": event.turn_id,
        PLACEMENT: decided.placement,
        DELIVERY: decided.delivery,
        "skillweave.generation": decided.generation,
        "skillweave.revision": decided.revision,
        "skillweave.skills": decided.skills,
        "skillweave.diagnostics": decided.diagnostics,
        **{f"skillweave.tokens.{name}": count for name, count in decided.tokens.items()},
        **{f"skillweave.outcomes.{outcome}": count for outcome, count in decided.outcomes.items()},
    }
    return sendable(known)


def sendable(known: Mapping[str, Attribute | None]) -> Mapping[str, Attribute]:
    """What has a value, in texts that any encoding can carry: one lone surrogate costs an exporter its whole batch."""
    return {name: _encodable(value) for name, value in known.items() if value is not None}


def _encodable(value: Attribute) -> Attribute:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, tuple):
        return tuple(text if text.isascii() else text.encode("utf-8", "replace").decode() for text in value)
    return value


def _named(event: Event) -> dict[str, Attribute | None]:
    match event.payload:
        case Given() as given:
            return {
                **_skill(given.skill_id),
                "gen_ai.skill.version": given.version,
                "gen_ai.skill.rung": given.rung,
                "gen_ai.skill.tokens": given.tokens,
                OUTCOME: given.outcome,
                "gen_ai.skill.matcher": given.matcher,
                "gen_ai.skill.score": given.score,
            }
        case SkillEvicted() as gone:
            tokens: dict[str, Attribute | None] = {"gen_ai.skill.rung": gone.rung, "gen_ai.skill.tokens": gone.tokens}
            return {**_skill(gone.skill_id), **tokens, "skillweave.cause": gone.cause}
        case CursorMoved() as moved:
            step: dict[str, Attribute | None] = {
                "skillweave.move.from": moved.from_skill,
                "skillweave.move.by": moved.by,
            }
            return {**_skill(moved.to_skill), **step}
        case ToolBlocked() as blocked:
            return {"gen_ai.tool.name": blocked.tool, "gen_ai.tool.call.id": blocked.call_id, CODE: blocked.code}
        case CheckpointPending() as pending:
            return {**_skill(pending.skill_id), "skillweave.checkpoint.name": pending.checkpoint}
        case CheckpointDecided() as decided:
            verdict: dict[str, Attribute | None] = {"skillweave.checkpoint.verdict": decided.verdict}
            return {**_skill(decided.skill_id), "skillweave.checkpoint.name": decided.checkpoint, **verdict}
        case SpawnValidated() | SpawnStarted() as spawn:
            return {"skillweave.spawn.conversation": spawn.spawned}
        case SpawnRejected() as rejected:
            return {CODE: rejected.codes}
        case Announced() as announced:
            return _skill(announced.skill_id)
        case _:
            return {}


def _skill(skill_id: str) -> dict[str, Attribute | None]:
    return {"gen_ai.skill.id": skill_id, "gen_ai.skill.name": skill_id}
