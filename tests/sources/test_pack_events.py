from pathlib import Path

import pytest

from skillweave import Registry
from skillweave.events import EventType
from skillweave.frozen import thaw
from skillweave.registry import Loaded
from skillweave.sources import Pack
from skillweave.values import Location

SKILLS = "skills:\n  - {id: table, description: A table.}\n"


async def load(tmp_path: Path, events: str, name: str = "pack.yaml") -> Loaded:
    (tmp_path / name).write_text(f"{SKILLS}{events}", encoding="utf-8")
    return await Pack(tmp_path / name).load()


async def test_an_event_is_its_name_and_the_schema_of_its_payload(tmp_path: Path) -> None:
    rules = "    type: object\n    required: [rows]\n    minProperties: 1\n"
    loaded = await load(tmp_path, f"events:\n  DATA_TABLE_UPDATE:\n    description: Rows.\n{rules}")
    assert loaded.diagnostics == ()
    event = loaded.events["DATA_TABLE_UPDATE"]
    assert (event.name, event.description) == ("DATA_TABLE_UPDATE", "Rows.")
    assert {key: thaw(value) for key, value in event.schema.items()} == {  # type: ignore[union-attr]
        "description": "Rows.",
        "type": "object",
        "required": ["rows"],
        "minProperties": 1,
    }
    assert event.location == Location(f"{tmp_path}/pack.yaml", 4)


async def test_unquoted_scalars_of_a_schema_have_their_types(tmp_path: Path) -> None:
    loaded = await load(tmp_path, "events:\n  A: {properties: {n: {const: 1.5}, b: {const: true}, t: {const: no}}}\n")
    properties = loaded.events["A"].schema["properties"]  # type: ignore[index]
    assert thaw(properties) == {"n": {"const": 1.5}, "b": {"const": True}, "t": {"const": "no"}}  # type: ignore[arg-type]


async def test_a_name_alone_allows_any_object(tmp_path: Path) -> None:
    loaded = await load(tmp_path, "events:\n  A:\n  B: {}\n")
    assert loaded.events == {"A": EventType("A", "", {}), "B": EventType("B", "", {})}
    assert loaded.diagnostics == ()


async def test_a_pack_in_json_declares_events_too(tmp_path: Path) -> None:
    (tmp_path / "pack.json").write_text(
        '{"skills": [{"id": "a", "description": "b"}], "events": {"A": {"minProperties": 2}}}'
    )
    loaded = await Pack(tmp_path / "pack.json").load()
    assert loaded.events["A"].schema == {"minProperties": 2}


@pytest.mark.parametrize("nothing", ["", "events:\n", "events: {}\n"])
async def test_a_pack_may_declare_none(tmp_path: Path, nothing: str) -> None:
    loaded = await load(tmp_path, nothing)
    assert (loaded.events, loaded.diagnostics) == ({}, ())


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("events: [A]\n", 3, "`events` is not a mapping"),
        ("events: A\n", 3, "`events` is not a mapping"),
        ("events:\n  A: {}\n  two words: {}\n", 5, "'two words' is not an event name"),
        ("events:\n  turn.decided: {}\n", 4, "'turn.decided' begins like skillweave's own events"),
        ("events:\n  A: [object]\n", 4, "the schema of event 'A' is not a mapping"),
        ("events:\n  A: object\n", 4, "the schema of event 'A' is not a mapping"),
        ("events:\n  A: true\n", 4, "the schema of event 'A' is not a mapping"),
    ],
)
async def test_every_mistake_is_one_finding_with_its_line_and_a_fix(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    (finding,) = (await load(tmp_path, text)).diagnostics
    assert (finding.code, finding.severity.value) == ("bad-event", "error")
    assert finding.message.startswith(message)
    assert finding.location == Location(f"{tmp_path}/pack.yaml", line)
    assert finding.fix


async def test_a_broken_declaration_lets_nothing_pass_and_hides_no_other(tmp_path: Path) -> None:
    loaded = await load(tmp_path, "events:\n  A: 3\n  B: {}\n")
    assert not loaded.events["A"].readable
    assert loaded.events["B"].readable
    assert [skill.id for skill in loaded.skills] == ["table"]


async def test_a_broken_edit_keeps_the_last_good_declaration(tmp_path: Path) -> None:
    await load(tmp_path, "events:\n  A: {minProperties: 1}\n  B: {}\n  C: {}\n")
    registry = Registry([Pack(tmp_path / "pack.yaml")])
    await registry.refresh()
    good = registry.snapshot.events["A"]
    await load(tmp_path, "events:\n  A: 3\n  C: {minProperties: 2}\n")
    await registry.refresh()
    events = registry.snapshot.events
    assert events["A"] == good
    assert events["B"].readable
    assert events["C"].schema == {"minProperties": 2}


@pytest.mark.parametrize("broken", ["events: [A]\n", "events:\n  A: {\n", "- just text\n"])
async def test_a_pack_that_can_no_longer_be_read_keeps_its_declarations(tmp_path: Path, broken: str) -> None:
    await load(tmp_path, "events:\n  A: {minProperties: 1}\n")
    registry = Registry([Pack(tmp_path / "pack.yaml")])
    await registry.refresh()
    await load(tmp_path, broken)
    await registry.refresh()
    assert registry.snapshot.events["A"].schema == {"minProperties": 1}


async def test_a_mended_pack_forgets_what_it_no_longer_declares(tmp_path: Path) -> None:
    await load(tmp_path, "events:\n  A: {}\n")
    registry = Registry([Pack(tmp_path / "pack.yaml")])
    await registry.refresh()
    await load(tmp_path, "events:\n  B: {}\n")
    changes = await registry.refresh()
    assert list(registry.snapshot.events) == ["B"]
    assert changes
