"""Events as OpenTelemetry spans and metrics (extra `otel`).

Needs the API only. Without an SDK in the process nothing is recorded and nothing fails.
"""

import time
from collections.abc import Callable, Sequence

from skillweave._version import __version__
from skillweave.errors import MissingExtra
from skillweave.events.event import Event
from skillweave.events.tools import ToolBlocked
from skillweave.events.turns import TurnDecided
from skillweave.telemetry.attributes import (
    CODE,
    CONVERSATION,
    DELIVERY,
    OUTCOME,
    PLACEMENT,
    attributes_of,
    sendable,
    turn_attributes,
)

try:
    from opentelemetry import metrics, trace
except ModuleNotFoundError:
    raise MissingExtra("OpenTelemetry", "opentelemetry-api", "otel") from None

SCOPE = "skillweave"
TURN_SPAN = "skillweave.turn"


class OpenTelemetry:
    """An Observer that records each turn as a span `skillweave.turn`, below the span in which the host runs it.

    The skills given are the span's events. What happens outside a turn (a blocked call, an eviction) is an event of
    the host's span, or a short span of its own where there is none. Providers are the process's own unless given.
    """

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
