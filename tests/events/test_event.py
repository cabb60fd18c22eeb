import json
from dataclasses import FrozenInstanceError

import pytest

import skillweave.events
from skillweave import Event
from skillweave.events import (
    Announced,
    CheckpointPending,
    SkillInjected,
    SkillRefreshed,
    TurnDecided,
)
from skillweave.events.event import event_id
from skillweave.events.payloads import Given
from skillweave.frozen import freeze_mapping

GIVEN = ("greet", "1.0", "d1", "injected", "full", 12, "triggers", 0.8, "sw-1", ("skill:greet",), "given")
PENDING = CheckpointPending("greet", "pre_filing", "d1", None, None, "May it go out?")


def event(payload: object = PENDING, turn_id: str | None = "t") -> Event:
    return Event("e1", "checkpoint.pending", "c", turn_id, payload)  # type: ignore[arg-type]


def test_the_envelope_has_exactly_the_five_keys_in_their_order() -> None:
    assert list(event().to_dict()) == ["id", "event_type", "conversation", "turn_id", "payload"]


def test_the_payload_is_written_field_by_field() -> None:
    assert event().to_dict()["payload"] == {
        "skill_id": "greet",
        "checkpoint": "pre_filing",
        "digest": "d1",
        "before": None,
        "reviewer": None,
        "asks": "May it go out?",
    }


def test_tuples_and_mappings_become_plain_json_data() -> None:
    decided = TurnDecided(1, 1, "history", "given", ("a",), freeze_mapping({"injected": 1}), {"left": 2}, ("x",), 0.5)  # type: ignore[arg-type]
    written = json.loads(json.dumps(decided.to_dict()))
    assert written == decided.to_dict()
    assert (written["skills"], written["outcomes"]) == (["a"], {"injected": 1})


def test_an_event_without_a_turn_says_so() -> None:
    assert event(turn_id=None).to_dict()["turn_id"] is None


def test_an_event_has_the_type_of_its_payload() -> None:
    made = Event("e", "skill.refreshed", "c", "t", SkillRefreshed(*GIVEN))
    assert (made.event_type, SkillInjected.event_type) == ("skill.refreshed", "skill.injected")


def test_given_and_refreshed_text_can_be_asked_for_together() -> None:
    assert isinstance(SkillInjected(*GIVEN), Given)
    assert isinstance(SkillRefreshed(*GIVEN), Given)
    assert SkillInjected(*GIVEN) != SkillRefreshed(*GIVEN)


def test_neither_an_event_nor_its_payload_can_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        event().id = "other"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        PENDING.asks = "other"  # type: ignore[misc]


def test_what_a_skill_announces_is_the_payload_as_it_was_given_and_nothing_else() -> None:
    data = freeze_mapping({"rows": [{"api": "42-329"}], "done": False})
    assert event(Announced("table", data)).to_dict()["payload"] == {"rows": [{"api": "42-329"}], "done": False}


def test_an_id_follows_from_what_identifies_the_happening() -> None:
    assert event_id("c", "t", "turn.decided") == event_id("c", "t", "turn.decided")
    assert len(event_id("c")) == 32


@pytest.mark.parametrize("other", [("c", "t1"), ("c1", "t"), ("c", "t", ""), ("ct",), ("", "ct"), ("c", "1:t")])
def test_other_texts_never_make_the_same_id(other: tuple[str, ...]) -> None:
    assert event_id(*other) != event_id("c", "t")


def test_an_id_can_be_made_of_any_text() -> None:
    assert event_id("\ud800", "\x00😀")


def test_every_export_is_there_and_an_unknown_name_is_not() -> None:
    for name in skillweave.events.__all__:
        assert getattr(skillweave.events, name) is getattr(skillweave.events, name)
    assert set(dir(skillweave.events)) == set(skillweave.events.__all__)
    with pytest.raises(AttributeError, match="TurnDecide"):
        skillweave.events.TurnDecide  # noqa: B018
