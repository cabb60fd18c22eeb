"""Events as OpenTelemetry spans and metrics (extra `otel`): names and figures, never a text of a message or a skill.

Needs the API only. Without an SDK in the process nothing is recorded and nothing fails.

`gen_ai.conversation.id`, `gen_ai.tool.name` and `gen_ai.tool.call.id` are OpenTelemetry's names, `gen_ai.skill.name`
is the one that is proposed there (open-telemetry/semantic-conventions-genai, 498); `gen_ai.skill.*` beyond it and
`skillweave.*` are ours.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from skillweave._version import __version__
from skillweave.errors import MissingExtra
from skillweave.events.event import Event
from skillweave.events.payloads import CursorMoved, ToolBlocked, TurnDecided

try:
    from opentelemetry import metrics, trace
except ModuleNotFoundError:
    raise MissingExtra("OpenTelemetry", "opentelemetry-api", "otel") from None

Attribute: TypeAlias = str | int | float | tuple[str, ...]

CONVERSATION = "gen_ai.conversation.id"
OUTCOME = "gen_ai.skill.outcome"
PLACEMENT = "skillweave.placement"
DELIVERY = "skillweave.delivery"
CODE = "skillweave.code"
SCOPE = "skillweave"
TURN_SPAN = "skillweave.turn"

_BY_FIELD = (
    ("skill_id", "gen_ai.skill.id"),
    ("skill_id", "gen_ai.skill.name"),
    ("version", "gen_ai.skill.version"),
    ("rung", "gen_ai.skill.rung"),
    ("tokens", "gen_ai.skill.tokens"),
    ("outcome", OUTCOME),
    ("matcher", "gen_ai.skill.matcher"),
    ("score", "gen_ai.skill.score"),
    ("cause", "skillweave.cause"),
    ("to_skill", "gen_ai.skill.id"),
    ("to_skill", "gen_ai.skill.name"),
    ("from_skill", "skillweave.move.from"),
    ("tool", "gen_ai.tool.name"),
    ("call_id", "gen_ai.tool.call.id"),
    ("code", CODE),
    ("codes", CODE),
    ("checkpoint", "skillweave.checkpoint.name"),
    ("verdict", "skillweave.checkpoint.verdict"),
    ("spawned", "skillweave.spawn.conversation"),
)
"""The fields of payloads that are sent, and as what; all others stay here, as they may hold somebody's words."""


def attributes_of(event: Event) -> Mapping[str, Attribute]:
    """The attributes of one event by name, without those of a turn's span; what has no value is left out."""
    payload = event.payload
    if isinstance(payload, TurnDecided):
        return {}
    known = {name: getattr(payload, field) for field, name in _BY_FIELD if hasattr(payload, field)}
    # Of a verdict `by` is a person.
    return sendable({**known, "skillweave.move.by": payload.by} if isinstance(payload, CursorMoved) else known)


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


class OpenTelemetry:
    """An Observer that records each turn as a span below the host's, with the given skills as events."""

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        *,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._tracer = trace.get_tracer(SCOPE, __version__, tracer_provider)
        self._now_ns = now_ns
        meter = metrics.get_meter(SCOPE, __version__, meter_provider)
        self._turns = meter.create_counter("skillweave.turns", "{turn}", "Turns decided")
        self._durations = meter.create_histogram("skillweave.turn.duration", "s", "How long deciding a turn takes")
        self._tokens = meter.create_histogram("skillweave.turn.tokens", "{token}", "Skill tokens that a turn adds")
        self._decisions = meter.create_counter("skillweave.decisions", "{decision}", "Skills considered, by outcome")
        self._blocked = meter.create_counter("skillweave.tool.blocked", "{call}", "Tool calls denied, by code")

    async def observe(self, events: Sequence[Event]) -> None:
        """Record one step of a conversation."""
        first = events[0]
        if isinstance(first.payload, TurnDecided):
            self._turn(first, first.payload, events[1:])
        else:
            for event in events:
                self._happened(event)

    def _turn(self, event: Event, decided: TurnDecided, given: Sequence[Event]) -> None:
        end = self._now_ns()
        start = end - int(decided.duration_ms * 1_000_000)
        span = self._tracer.start_span(TURN_SPAN, attributes=turn_attributes(event, decided), start_time=start)
        for one in given:
            span.add_event(one.event_type, attributes_of(one), end)
        span.end(end)
        kind = {PLACEMENT: decided.placement, DELIVERY: decided.delivery}
        self._turns.add(1, kind)
        self._durations.record(decided.duration_ms / 1000, kind)
        self._tokens.record(decided.tokens["injected"], kind)
        for outcome, count in decided.outcomes.items():
            self._decisions.add(count, {OUTCOME: outcome})

    def _happened(self, event: Event) -> None:
        attributes = {**sendable({CONVERSATION: event.conversation}), **attributes_of(event)}
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(event.event_type, attributes)
        else:
            self._tracer.start_span(event.event_type, attributes=attributes).end()
        if isinstance(event.payload, ToolBlocked):
            self._blocked.add(1, {CODE: event.payload.code})
