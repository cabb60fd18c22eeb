import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from skillweave import Checkpoint, Settings, ToolRules
from skillweave.events import (
    CheckpointDecided,
    CursorMoved,
    Event,
    SpawnRejected,
    SpawnRequested,
    SpawnStarted,
    SpawnValidated,
)
from skillweave.events.payloads import BuiltIn
from skillweave.telemetry import OpenTelemetry
from skillweave.tools import OnlySkillTools
from tests.observing import weaver_of
from tests.skills import make_skill

NOW = 2_000_000_000_000_000_000
READER = make_skill(
    "reader",
    keywords=["read"],
    tools=ToolRules(forbidden=("write",)),
    checkpoints=[Checkpoint("review")],
)


class Exported:
    """A real SDK that keeps what it would send."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.observer = OpenTelemetry(self.tracers, MeterProvider([self.reader]), now_ns=lambda: NOW)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def points(self, name: str) -> list[Any]:
        data = json.loads(self.reader.get_metrics_data().to_json())  # type: ignore[union-attr]
        metrics = data["resource_metrics"][0]["scope_metrics"][0]["metrics"]
        return next(metric["data"]["data_points"] for metric in metrics if metric["name"] == name)

    def counts(self, name: str, attribute: str) -> dict[str, int]:
        return {point["attributes"][attribute]: point["value"] for point in self.points(name)}


@pytest.fixture
def exported() -> Exported:
    return Exported()


def attributes(span: ReadableSpan) -> Mapping[str, object]:
    return dict(span.attributes or {})


async def test_a_turn_is_one_span_with_its_figures(exported: Exported) -> None:
    weaver = weaver_of(READER, observers=[exported.observer])
    injection = await weaver.weave("read it", conversation="c", turn_id="t")
    (span,) = exported.spans
    assert (span.name, span.kind) == ("skillweave.turn", SpanKind.INTERNAL)
    assert attributes(span) == {
        "gen_ai.conversation.id": "c",
        "skillweave.turn.id": "t",
        "skillweave.placement": "history",
        "skillweave.delivery": "given",
        "skillweave.generation": 1,
        "skillweave.revision": 1,
        "skillweave.skills": ("reader",),
        "skillweave.diagnostics": (),
        "skillweave.tokens.catalog": injection.tokens.catalog,
        "skillweave.tokens.tail": injection.tokens.tail,
        "skillweave.tokens.injected": injection.tokens.injected,
        "skillweave.tokens.left": injection.tokens.left,
        "skillweave.outcomes.injected": 1,
    }


async def test_a_span_ends_now_and_is_as_long_as_the_turn(exported: Exported) -> None:
    await weaver_of(READER, observers=[exported.observer]).weave("read it", conversation="c")
    (span,) = exported.spans
    assert span.end_time == NOW
    assert span.start_time is not None
    assert span.start_time < NOW


async def test_each_skill_given_is_an_event_of_the_span(exported: Exported) -> None:
    injection = await weaver_of(READER, observers=[exported.observer]).weave("read it", conversation="c")
    (span,) = exported.spans
    given, pending = span.events
    assert (given.name, pending.name) == ("skill.injected", "checkpoint.pending")
    (decision,) = injection.decisions
    assert dict(given.attributes or {}) == {
        "gen_ai.skill.id": "reader",
        "gen_ai.skill.name": "reader",
        "gen_ai.skill.rung": "full",
        "gen_ai.skill.tokens": injection.blocks[0].tokens,
        "gen_ai.skill.outcome": "injected",
        "gen_ai.skill.matcher": "triggers",
        "gen_ai.skill.score": decision.score,
    }
    assert dict(pending.attributes or {})["skillweave.checkpoint.name"] == "review"


async def test_the_span_belongs_to_the_hosts_span(exported: Exported) -> None:
    weaver = weaver_of(READER, observers=[exported.observer])
    with exported.tracers.get_tracer("host").start_as_current_span("invoke_agent") as host:
        await weaver.weave("read it", conversation="c")
    turn, outer = exported.spans
    assert outer.name == "invoke_agent"
    assert turn.parent is not None
    assert turn.parent.span_id == host.get_span_context().span_id


async def test_a_blocked_call_is_an_event_of_the_hosts_span(exported: Exported) -> None:
    weaver = weaver_of(READER, observers=[exported.observer])
    injection = await weaver.weave("read it", conversation="c")
    with exported.tracers.get_tracer("host").start_as_current_span("execute_tool write"):
        await weaver.authorize(injection, "write", {"path": "x"}, call_id="call-1")
    (event,) = exported.spans[-1].events
    assert event.name == "tool.blocked"
    assert dict(event.attributes or {}) == {
        "gen_ai.conversation.id": "c",
        "gen_ai.tool.name": "write",
        "gen_ai.tool.call.id": "call-1",
        "skillweave.code": "TOOL_FORBIDDEN",
    }


async def test_what_happens_outside_any_span_has_a_span_of_its_own(exported: Exported) -> None:
    weaver = weaver_of(READER, observers=[exported.observer])
    await weaver.weave("read it", conversation="c")
    await weaver.evict("c", "reader")
    span = exported.spans[-1]
    assert span.name == "skill.evicted"
    assert (attributes(span)["gen_ai.skill.id"], attributes(span)["skillweave.cause"]) == ("reader", "evicted")


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (
            CheckpointDecided("reader", "review", "d", "approved", "Alice"),
            {"skillweave.checkpoint.verdict": "approved"},
        ),
        (
            CursorMoved("triage", "refund", "route", "a route fires", 1, "d"),
            {"gen_ai.skill.id": "refund", "skillweave.move.from": "triage", "skillweave.move.by": "route"},
        ),
        (CursorMoved(None, "triage", "entry", "it begins", 1, "d"), {"gen_ai.skill.id": "triage"}),
        (SpawnRequested("helper", ("reader",)), {}),
        (SpawnValidated("helper", "c/1", (), None, ()), {"skillweave.spawn.conversation": "c/1"}),
        (SpawnRejected("helper", (), ("UNKNOWN_SKILL",)), {"skillweave.code": ("UNKNOWN_SKILL",)}),
        (SpawnStarted("helper", "c/1"), {"skillweave.spawn.conversation": "c/1"}),
    ],
)
async def test_every_other_event_is_recorded_by_its_type(
    exported: Exported, payload: BuiltIn, expected: Mapping[str, object]
) -> None:
    await exported.observer.observe([Event("e", payload.event_type, "c", None, payload)])
    (span,) = exported.spans
    assert span.name == payload.event_type
    assert attributes(span).items() >= {"gen_ai.conversation.id": "c", **expected}.items()
    assert "Alice" not in str(attributes(span))


async def test_turns_tokens_decisions_and_blocked_calls_are_counted(exported: Exported) -> None:
    weaver = weaver_of(READER, observers=[exported.observer], settings=Settings(only_skill_tools=OnlySkillTools.ALWAYS))
    injections = [await weaver.weave("read it", conversation="c") for _ in range(3)]
    await weaver.authorize(injections[-1], "write")
    assert exported.counts("skillweave.turns", "skillweave.placement") == {"history": 3}
    assert exported.counts("skillweave.decisions", "gen_ai.skill.outcome") == {"injected": 1, "already-present": 2}
    assert exported.counts("skillweave.tool.blocked", "skillweave.code") == {"TOOL_FORBIDDEN": 1}
    (tokens,) = exported.points("skillweave.turn.tokens")
    assert (tokens["count"], tokens["sum"]) == (3, injections[0].tokens.injected)
    (durations,) = exported.points("skillweave.turn.duration")
    assert durations["count"] == 3


async def test_no_metric_has_an_attribute_that_grows_with_conversations(exported: Exported) -> None:
    weaver = weaver_of(READER, observers=[exported.observer])
    for number in range(5):
        injection = await weaver.weave("read it", conversation=f"c{number}")
        await weaver.authorize(injection, "write")
    names = ("skillweave.turns", "skillweave.turn.duration", "skillweave.turn.tokens", "skillweave.tool.blocked")
    assert [len(exported.points(name)) for name in names] == [1, 1, 1, 1]


async def test_neither_message_nor_skill_text_nor_payload_is_exported(exported: Exported) -> None:
    skill = make_skill("reader", keywords=["read"], instructions="instructions-hushhush")
    weaver = weaver_of(skill, observers=[exported.observer])
    weaver.skills.registry.register({"id": "teller", "description": "x", "triggers": ["tell"], "emits": ["NOTE"]})
    await weaver.weave("read message-hushhush and tell", conversation="c")
    await weaver.emit("c", "teller", "NOTE", {"secret": "payload-hushhush"})
    written = "".join(span.to_json() for span in exported.spans)
    assert "NOTE" in written
    assert "hushhush" not in written


def run(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_without_an_sdk_nothing_is_recorded_and_nothing_fails() -> None:
    script = """
import sys
import skillweave
from skillweave.telemetry.opentelemetry import OpenTelemetry
from skillweave_testing.fakes import WordCounter
weaver = skillweave.open("examples/skills", counter=WordCounter(), observers=[OpenTelemetry()]).sync
injection = weaver.weave("Say bonjour to Alice", conversation="c")
weaver.evict("c", injection.skills[0])
print(len(injection.skills), injection.diagnostics, "opentelemetry.sdk" in sys.modules)
"""
    assert run(script) == "1 () False\n"


def test_without_the_package_the_import_is_one_line_that_names_the_extra() -> None:
    script = """
import sys
sys.modules["opentelemetry"] = None
try:
    import skillweave.telemetry.opentelemetry
except ImportError as error:
    print(type(error).__name__, error)
"""
    assert run(script) == (
        "MissingExtra OpenTelemetry needs the package opentelemetry-api, which is not installed: "
        "pip install 'skillweave[otel]'\n"
    )
