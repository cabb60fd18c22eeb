import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import skillweave
from skillweave import Budget, Checkpoint, MemoryStore, Placement, Settings, SkillNotFound, StoreUnavailable, Weaver
from skillweave.events import EventRefused
from skillweave_testing import FailingStore, Recorder, WordCounter
from tests.observing import watched, weaver_of
from tests.skills import make_skill

TABLE = replace(make_skill("offset-wells", keywords=["offset"]), emits=("DATA_TABLE_UPDATE", "PLAIN"))
OTHER = make_skill("other", keywords=["other"])
PACK = """\
skills:
  - id: offset-wells
    description: Wells near by.
    triggers: {keywords: [offset]}
    emits: [DATA_TABLE_UPDATE, ANYTHING, BROKEN]
events:
  ANYTHING:
  BROKEN: 3
  DATA_TABLE_UPDATE:
    type: object
    required: [table, rows]
    properties:
      table: {type: string}
      rows: {type: array, items: {type: object}}
"""


async def engaged(weaver: Weaver, text: str = "offset") -> Weaver:
    await weaver.weave(text, conversation="c")
    return weaver


async def packed(tmp_path: Path, recorder: Recorder) -> Weaver:
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    return await engaged(skillweave.open(tmp_path / "pack.yaml", counter=WordCounter(), observers=[recorder]))


async def test_a_skill_announces_where_its_own_tenant_has_it() -> None:
    weaver, _ = watched(TABLE)
    acme = await engaged(weaver.variant(tenant="acme"))
    assert await acme.emit("c", "offset-wells", "PLAIN", {})
    with pytest.raises(EventRefused, match="is not in force"):
        await weaver.emit("c", "offset-wells", "PLAIN", {})


async def test_a_skill_in_force_announces_its_own_event() -> None:
    weaver, recorder = watched(TABLE)
    await engaged(weaver)
    told = await weaver.emit("c", "offset-wells", "PLAIN", {"rows": [{"api": "42"}]}, turn_id="t")
    assert recorder.events[-1] == told
    assert told.to_dict() == {
        "id": told.id,
        "event_type": "PLAIN",
        "conversation": "c",
        "turn_id": "t",
        "payload": {"rows": [{"api": "42"}]},
    }


async def test_two_announcements_are_two_events_and_one_that_is_repeated_keeps_its_id() -> None:
    weaver, recorder = watched(TABLE)
    await engaged(weaver)
    for key in (None, None, "mine", "mine"):
        await weaver.emit("c", "offset-wells", "PLAIN", {}, key=key)
    ids = [event.id for event in recorder.of("PLAIN")]
    assert ids[2] == ids[3]
    assert len(set(ids)) == 3


async def test_a_key_can_neither_forge_the_id_of_another_event_nor_break_a_stream() -> None:
    weaver, recorder = watched(TABLE)
    await engaged(weaver)
    taken = recorder.events[0].id
    for key in (taken, "two\nlines"):
        assert re.fullmatch("[0-9a-f]{32}", (await weaver.emit("c", "offset-wells", "PLAIN", {}, key=key)).id)
    assert taken not in {event.id for event in recorder.of("PLAIN")}


async def test_the_payload_cannot_be_changed_afterwards() -> None:
    weaver, recorder = watched(TABLE)
    await engaged(weaver)
    payload = {"rows": [1]}
    await weaver.emit("c", "offset-wells", "PLAIN", payload)
    payload["rows"].append(2)
    assert recorder.events[-1].payload.to_dict() == {"rows": [1]}


async def test_an_event_that_the_skill_does_not_name_is_refused_with_those_it_may_emit() -> None:
    weaver, _ = watched(TABLE)
    await engaged(weaver)
    with pytest.raises(EventRefused, match=r"no event 'ARTIFACT'; it may emit DATA_TABLE_UPDATE, PLAIN"):
        await weaver.emit("c", "offset-wells", "ARTIFACT", {})


async def test_a_skill_that_names_none_may_emit_none() -> None:
    weaver = await engaged(weaver_of(OTHER), "other")
    with pytest.raises(EventRefused, match="it names none under `emits`"):
        await weaver.emit("c", "other", "PLAIN", {})


@pytest.mark.parametrize("name", ["skill.injected", "two words", "line\nbreak"])
async def test_a_skill_cannot_forge_our_events_or_break_a_stream_although_it_names_them(name: str) -> None:
    weaver, recorder = watched(replace(TABLE, emits=(name,)))
    await engaged(weaver)
    before = recorder.events
    with pytest.raises(EventRefused, match="rename it under `emits`"):
        await weaver.emit("c", "offset-wells", name, {})
    assert recorder.events == before


async def test_an_unknown_skill_is_answered_with_the_nearest() -> None:
    with pytest.raises(SkillNotFound, match="offset-wells"):
        await weaver_of(TABLE).emit("c", "offset-well", "PLAIN", {})


async def test_a_skill_that_was_never_given_has_nothing_to_say() -> None:
    with pytest.raises(EventRefused, match="'offset-wells' is not in force in conversation 'c'"):
        await weaver_of(TABLE).emit("c", "offset-wells", "PLAIN", {})


async def test_a_skill_that_has_left_has_nothing_to_say_any_more() -> None:
    weaver = await engaged(weaver_of(TABLE))
    await weaver.ledger.disengage("c", "offset-wells")
    with pytest.raises(EventRefused, match="not in force"):
        await weaver.emit("c", "offset-wells", "PLAIN", {})


async def test_a_rejected_skill_has_nothing_to_say_any_more() -> None:
    weaver = await engaged(weaver_of(replace(TABLE, checkpoints=(Checkpoint("review"),))))
    await weaver.approvals.decide("c", "offset-wells", "review", "rejected", by="Alice")
    with pytest.raises(EventRefused, match="not in force"):
        await weaver.emit("c", "offset-wells", "PLAIN", {})


async def test_a_skill_of_which_only_the_catalog_line_is_there_is_not_in_force() -> None:
    long = replace(make_skill("long", keywords=["offset"], instructions="word " * 100), emits=("PLAIN",))
    weaver = await engaged(weaver_of(long, settings=Settings(budget=Budget(total=60))))
    with pytest.raises(EventRefused, match="not in force"):
        await weaver.emit("c", "long", "PLAIN", {})


@pytest.mark.parametrize("placement", Placement)
async def test_a_companion_is_in_force_like_the_skill_that_needs_it(placement: Placement) -> None:
    head = make_skill("head", keywords=["head"], requires=["offset-wells"])
    weaver = weaver_of(head, TABLE)
    await weaver.weave("head", conversation="c", placement=placement)
    assert await weaver.emit("c", "offset-wells", "PLAIN", {})


async def test_inside_a_delivery_a_skill_may_announce_already() -> None:
    weaver = weaver_of(TABLE)
    async with weaver.delivery("offset", conversation="c"):
        assert await weaver.emit("c", "offset-wells", "PLAIN", {})


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ([], "is not a JSON object"),
        ("text", "is not a JSON object"),
        ({"n": float("nan")}, r"payload#/n: nan is not a JSON number"),
        ({"rows": [object()]}, r"payload#/rows/0: a object is not JSON data"),
        ({1: "a"}, "the key '1' is not text"),
        ({"a": "x" * 70_000}, "more than 65,536 characters"),
        ({"a": ["x"] * 5_001}, "more than 5,000 values"),
    ],
)
async def test_a_payload_that_is_no_json_object_or_too_large_is_refused(payload: object, message: str) -> None:
    weaver = await engaged(weaver_of(TABLE))
    with pytest.raises(EventRefused, match=message):
        await weaver.emit("c", "offset-wells", "PLAIN", payload)  # type: ignore[arg-type]


async def test_a_payload_that_is_too_deep_or_holds_itself_is_refused() -> None:
    weaver = await engaged(weaver_of(TABLE))
    payload: dict[str, object] = {}
    payload["self"] = payload
    with pytest.raises(EventRefused, match="nested more than 32 levels deep"):
        await weaver.emit("c", "offset-wells", "PLAIN", payload)


async def test_while_the_ledger_does_not_answer_nobody_can_say_who_is_in_force() -> None:
    store = FailingStore(MemoryStore())
    weaver = await engaged(weaver_of(TABLE, store=store))
    store.down = {"load"}
    with pytest.raises(StoreUnavailable):
        await weaver.emit("c", "offset-wells", "PLAIN", {})


async def test_an_observer_that_fails_does_not_fail_the_announcement() -> None:
    weaver = await engaged(weaver_of(TABLE, observers=[Recorder(failure=OSError("down"))]))
    assert (await weaver.emit("c", "offset-wells", "PLAIN", {})).event_type == "PLAIN"


async def test_a_declared_payload_that_fits_is_told(tmp_path: Path) -> None:
    recorder = Recorder()
    weaver = await packed(tmp_path, recorder)
    await weaver.emit("c", "offset-wells", "DATA_TABLE_UPDATE", {"table": "wells", "rows": [{"api": "42"}]})
    assert recorder.types[-1] == "DATA_TABLE_UPDATE"


async def test_a_declared_payload_that_does_not_fit_is_refused_with_every_mistake(tmp_path: Path) -> None:
    recorder = Recorder()
    weaver = await packed(tmp_path, recorder)
    with pytest.raises(EventRefused) as refused:
        await weaver.emit("c", "offset-wells", "DATA_TABLE_UPDATE", {"table": 3, "rows": ["x"]})
    assert f"does not fit event 'DATA_TABLE_UPDATE' as declared at {tmp_path}/pack.yaml:9: payload#/" in str(
        refused.value
    )
    assert {str(finding.location) for finding in refused.value.findings} == {"payload#/table", "payload#/rows/0"}
    assert "DATA_TABLE_UPDATE" not in recorder.types


async def test_a_declaration_without_a_schema_lets_any_object_pass(tmp_path: Path) -> None:
    weaver = await packed(tmp_path, Recorder())
    assert await weaver.emit("c", "offset-wells", "ANYTHING", {"a": [1]})


async def test_what_cannot_be_checked_does_not_pass(tmp_path: Path) -> None:
    weaver = await packed(tmp_path, Recorder())
    with pytest.raises(EventRefused, match=r"pack\.yaml:8 could not be read, so no payload passes it"):
        await weaver.emit("c", "offset-wells", "BROKEN", {})


async def test_a_schema_that_is_none_lets_nothing_pass(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(PACK.replace("type: object\n    required", "type: objet\n    required"))
    weaver = await engaged(skillweave.open(tmp_path / "pack.yaml", counter=WordCounter()))
    with pytest.raises(EventRefused, match="schema of payload#/type"):
        await weaver.emit("c", "offset-wells", "DATA_TABLE_UPDATE", {"table": "a", "rows": []})


def test_without_the_extra_a_declared_event_is_one_line_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    script = f"""
import sys
sys.modules["jsonschema"] = None
import skillweave
from skillweave_testing.fakes import WordCounter
weaver = skillweave.open({str(tmp_path / "pack.yaml")!r}, counter=WordCounter()).sync
weaver.weave("offset", conversation="c")
print(weaver.emit("c", "offset-wells", "ANYTHING", {{"a": 1}}).event_type)
try:
    weaver.emit("c", "offset-wells", "DATA_TABLE_UPDATE", {{"table": "a", "rows": []}})
except skillweave.SkillweaveError as error:
    print(type(error).__name__, error)
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second = answer.stdout.splitlines()
    assert first == "ANYTHING"
    assert second.startswith("MissingExtra ")
    assert "pip install 'skillweave[schema]'" in second


def test_the_blocking_form_announces_too() -> None:
    weaver, recorder = watched(TABLE)
    weaver.sync.weave("offset", conversation="c")
    told = weaver.sync.emit("c", "offset-wells", "PLAIN", {"a": 1}, turn_id="t", key="k")
    assert recorder.events[-1] == told
    weaver.sync.close()


async def test_a_rejected_companion_announces_nothing_and_neither_does_what_needs_it() -> None:
    guarded = replace(TABLE, checkpoints=(Checkpoint("review"),))
    head = replace(make_skill("head-one", keywords=["head"], requires=["offset-wells"]), emits=("PLAIN",))
    weaver = await engaged(weaver_of(guarded, head), "head")
    await weaver.approvals.decide("c", "offset-wells", "review", "rejected", by="Ann")
    for skill_id in ("offset-wells", "head-one"):
        with pytest.raises(EventRefused, match="not in force"):
            await weaver.emit("c", skill_id, "PLAIN", {})
