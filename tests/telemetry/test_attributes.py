from skillweave import Event
from skillweave.events import SkillInjected, ToolBlocked
from skillweave.events.payloads import BuiltIn
from skillweave.telemetry.opentelemetry import attributes_of


def test_what_has_no_value_is_left_out() -> None:
    given = SkillInjected("a", None, "d", "injected", "full", 1, None, None, "b", (), "given")
    names = set(attributes_of(Event("e", given.event_type, "c", "t", given)))
    assert names == {
        "gen_ai.skill.id",
        "gen_ai.skill.name",
        "gen_ai.skill.rung",
        "gen_ai.skill.tokens",
        "gen_ai.skill.outcome",
    }


def test_an_event_that_nobody_here_knows_has_no_attributes() -> None:
    class Unknown(BuiltIn):
        pass

    assert attributes_of(Event("e", "x", "c", None, Unknown())) == {}


def test_no_text_holds_what_no_encoding_can_carry() -> None:
    blocked = ToolBlocked("tool\ud800é", "TOOL_FORBIDDEN", None, (), "call\udfff")
    attributes = attributes_of(Event("e", blocked.event_type, "c", "t", blocked))
    assert attributes == {
        "gen_ai.tool.name": "tool?é",
        "gen_ai.tool.call.id": "call?",
        "skillweave.code": "TOOL_FORBIDDEN",
    }
