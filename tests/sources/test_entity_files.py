"""Entities and edges out of files that people and other programs wrote."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from skillweave import Diagnostic, Severity
from skillweave.entities import Edge, Entity, Point
from skillweave.errors import InvalidValue
from skillweave.knowledge.rules import ContextRules
from skillweave.sources import entity_reading
from skillweave.sources.entity_files import EntityFiles, read_graph

RULES = ContextRules(aliases={"Ship": ["imo", "name"]}, locations={"Ship": ["berth", "anchorage"]})


def read(*paths: Path, rules: ContextRules = RULES) -> tuple[list[Entity], list[Edge], tuple[Diagnostic, ...]]:
    files = EntityFiles(*paths, rules=rules)
    return list(files.entities()), list(files.edges()), files.diagnostics


def of_json(folder: Path, data: Any, rules: ContextRules = RULES) -> tuple[list[Entity], list[Edge], list[Diagnostic]]:
    path = folder / "g.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    entities, edges, found = read(path, rules=rules)
    return entities, edges, list(found)


def of_csv(folder: Path, text: str | bytes) -> tuple[list[Entity], list[Edge], list[Diagnostic]]:
    path = folder / "rows.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    entities, edges, found = read(path)
    return entities, edges, list(found)


def told(found: Iterable[Diagnostic]) -> list[tuple[str, int | None]]:
    return [(one.code, one.line) for one in found]


def ship(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"nodes": [{"id": "a", "label": "Ship", "properties": properties, **more}]}


def test_nodes_and_edges_are_read_as_they_are(tmp_path: Path) -> None:
    data = {
        "nodes": [
            {"id": "a", "label": "Ship", "properties": {"z": [1, {"b": None}], "a": 1.0}, "aliases": ["Aurora"]},
            {"id": "b", "label": "Pier", "location": {"latitude": 53.5, "longitude": 10, "datum": "wgs 84"}},
        ],
        "edges": [
            {"source": "a", "type": "AT", "target": "b", "properties": {"since": 2026}},
            {"source": "a", "relation": "LEFT", "target": "b"},
        ],
    }
    entities, edges, found = of_json(tmp_path, data)
    assert entities == [
        Entity("a", "Ship", {"z": [1, {"b": None}], "a": 1.0}, ("Aurora",)),
        Entity("b", "Pier", location=Point(53.5, 10, "WGS84")),
    ]
    assert edges == [Edge("a", "AT", "b", {"since": 2026}), Edge("a", "LEFT", "b")]
    assert found == []


def test_keys_at_the_top_that_are_not_read_are_told_and_meta_is_not(tmp_path: Path) -> None:
    _, _, found = of_json(tmp_path, {"meta": {"name": "x"}, "nodes": [], "expected": {}, "answers": []})
    assert [(one.code, one.severity) for one in found] == [("unread-graph-key", Severity.INFO)] * 2
    assert "`expected`" in found[0].message


def test_properties_with_a_role_are_aliases_after_those_that_are_listed(tmp_path: Path) -> None:
    properties = {"imo": 9074729, "name": ["Aurora", "Old Aurora"], "crew": "x"}
    ((entity,), _, found) = of_json(tmp_path, ship(properties, aliases=["A-1", "Aurora"]))
    assert entity.aliases == ("A-1", "Aurora", "9074729", "Old Aurora")
    assert entity.properties == {"imo": 9074729, "name": ("Aurora", "Old Aurora"), "crew": "x"}
    assert found == []


def test_a_role_is_that_of_the_label(tmp_path: Path) -> None:
    data = {"nodes": [{"id": "a", "label": "Pier", "properties": {"name": "Pier 1", "berth": {"lat": 1, "lon": 2}}}]}
    ((entity,), _, found) = of_json(tmp_path, data)
    assert (entity.aliases, entity.location, found) == ((), None, [])


@pytest.mark.parametrize("value", ["---", 1.5, True, {"a": 1}, ["ok", None], "x" * 401, "\0a"], ids=str)
def test_an_alias_by_which_nothing_is_found_is_told_and_left_out(tmp_path: Path, value: Any) -> None:
    ((entity,), _, found) = of_json(
        tmp_path, ship({}, aliases=["fine", *(value if isinstance(value, list) else [value])])
    )
    assert entity.aliases in (("fine",), ("fine", "ok"))
    assert told(found) == [("bad-alias", None)]


@pytest.mark.parametrize("value", ["", None, []])
def test_an_empty_name_is_none(tmp_path: Path, value: Any) -> None:
    ((entity,), _, found) = of_json(tmp_path, ship({"name": value}))
    assert (entity.aliases, found) == ((), [])


@pytest.mark.parametrize("keys", [("lat", "lon"), ("latitude", "longitude")])
def test_a_location_is_the_first_property_with_the_role(tmp_path: Path, keys: tuple[str, str]) -> None:
    properties = {"anchorage": {"lat": 3, "lon": 4}, "berth": dict(zip(keys, (1, 2), strict=True)), "datum": "NAD83"}
    ((entity,), _, found) = of_json(tmp_path, ship(properties))
    assert (entity.location, found) == (Point(1, 2, "NAD83"), [])


@pytest.mark.parametrize(
    ("of_place", "of_entity", "of_file", "datum"),
    [
        ("NAD27", "NAD83", "WGS84", "NAD27"),
        (None, "NAD83", "WGS84", "NAD83"),
        (None, None, "WGS84", "WGS84"),
    ],
)
def test_a_datum_is_that_of_the_place_else_of_the_entity_else_of_the_file(
    tmp_path: Path, of_place: str | None, of_entity: str | None, of_file: str, datum: str
) -> None:
    place = {"lat": 1, "lon": 2} | ({"datum": of_place} if of_place else {})
    properties = {"berth": place} | ({"datum": of_entity} if of_entity else {})
    ((entity,), _, found) = of_json(tmp_path, ship(properties) | {"meta": {"datum": of_file}})
    assert (entity.location, found) == (Point(1, 2, datum), [])


@pytest.mark.parametrize(
    ("properties", "meta"),
    [
        ({"berth": {"lat": 1, "lon": 2}}, {}),
        ({"berth": {"lat": 1, "lon": 2}, "datum": None}, {"datum": "NAD83"}),
        ({"berth": {"lat": 1, "lon": 2, "datum": ""}, "datum": "NAD27"}, {"datum": "NAD83"}),
    ],
    ids=["said nowhere", "said to be unknown", "said to be nothing"],
)
def test_degrees_of_no_datum_are_no_location_and_told(
    tmp_path: Path, properties: dict[str, Any], meta: dict[str, str]
) -> None:
    ((entity,), _, found) = of_json(tmp_path, ship(properties) | {"meta": meta})
    assert (entity.location, told(found)) == (None, [("no-datum", None)])
    assert entity.properties["berth"] == properties["berth"]
    assert "such as NAD83" in found[0].fix


@pytest.mark.parametrize(
    "place", [{"lat": 95, "lon": 2}, {"lat": "1", "lon": 2}, {"lat": 1}, "1, 2", [1, 2], 0, {}], ids=str
)
def test_degrees_that_no_place_has_are_no_location_and_told(tmp_path: Path, place: Any) -> None:
    ((entity,), _, found) = of_json(tmp_path, ship({"berth": place, "datum": "NAD83"}))
    assert (entity.location, told(found)) == (None, [("bad-location", None)])
    assert "entity 'a'" in found[0].message


@pytest.mark.parametrize(
    "node",
    [
        "a",
        None,
        {"label": "Ship"},
        {"id": "b"},
        {"id": 7, "label": "Ship"},
        {"id": "", "label": "Ship"},
        {"id": "x" * 201, "label": "Ship"},
        {"id": "b", "label": "Ship", "properties": ["a"]},
        {"id": "b", "label": "Ship", "properties": {"a": "\0"}},
    ],
    ids=str,
)
def test_an_entity_that_cannot_be_read_is_told_with_its_place_and_the_others_load(tmp_path: Path, node: Any) -> None:
    good = [{"id": one, "label": "Ship"} for one in ("a", "z")]
    entities, _, found = of_json(tmp_path, {"nodes": [good[0], node, good[1]]})
    assert [one.id for one in entities] == ["a", "z"]
    assert told(found) == [("bad-entity", None)]
    assert found[0].message.startswith("nodes[1]: ")
    assert found[0].severity is Severity.ERROR
    assert found[0].fix and "\n" not in found[0].message + found[0].fix


@pytest.mark.parametrize(
    "edge",
    [
        "a",
        {"source": "a", "target": "a"},
        {"source": "a", "type": "", "target": "a"},
        {"source": 7, "type": "AT", "target": "a"},
        {"source": "a", "type": "AT", "target": "a", "properties": "x"},
    ],
    ids=str,
)
def test_an_edge_that_cannot_be_read_is_told_with_its_place_and_the_others_load(tmp_path: Path, edge: Any) -> None:
    good = {"source": "a", "type": "TO", "target": "a"}
    _, edges, found = of_json(tmp_path, {"nodes": [{"id": "a", "label": "A"}], "edges": [edge, good]})
    assert (edges, told(found)) == ([Edge("a", "TO", "a")], [("bad-edge", None)])
    assert found[0].message.startswith("edges[0]: ")


def test_keys_of_an_entity_and_an_edge_that_mean_nothing_are_told(tmp_path: Path) -> None:
    data = ship({}, name="Aurora", imo=1) | {
        "edges": [{"source": "a", "relation": "TO", "type": "AT", "target": "a", "weight": 1}]
    }
    _, edges, found = of_json(tmp_path, data)
    assert told(found) == [("unread-entity-key", None)] * 2
    assert "`imo`, `name` of entity 'a'" in found[0].message
    assert "`type`, `weight`" in found[1].message
    assert edges == [Edge("a", "TO", "a")]


def test_of_two_entities_with_one_id_the_first_counts_and_the_second_is_told(tmp_path: Path) -> None:
    text = '{"nodes": [\n{"id": "a", "label": "A"},\n{"id": "a", "label": "B"}]}'
    entities, _, found = of_json(tmp_path, text)
    assert (entities, told(found)) == ([Entity("a", "A")], [("duplicate-entity", None)])


def test_of_two_edges_that_are_the_same_the_first_counts_and_the_second_is_told(tmp_path: Path) -> None:
    rows = "source,type,target,n\na,TO,b,1\na,AT,b,2\nb,TO,a,3\na,TO,b,4\n"
    _, edges, found = of_csv(tmp_path, rows)
    assert ([one.properties["n"] for one in edges], told(found)) == ([1, 2, 3], [("duplicate-edge", 5)])


async def test_a_graph_in_memory_has_no_edge_to_what_is_not_there(tmp_path: Path) -> None:
    good, bad = (json.dumps({"source": "a", "type": "TO", "target": target}) for target in ("a", "ghost"))
    text = f'{{"nodes": [{{"id": "a", "label": "A"}}], "edges": [\n{good},\n{bad}]}}'
    (tmp_path / "g.json").write_text(text, "utf-8")
    graph = read_graph(tmp_path / "g.json")
    assert told(graph.diagnostics) == [("unknown-end", None)]
    assert "'ghost'" in graph.diagnostics[0].message
    assert [one.edge.target for one in await graph.graph.neighbours("a")] == ["a"]


def test_edges_for_a_graph_that_is_there_may_name_what_the_file_does_not(tmp_path: Path) -> None:
    entities, edges, found = of_json(tmp_path, {"edges": [{"source": "a", "type": "TO", "target": "b"}]})
    assert (entities, edges, found) == ([], [Edge("a", "TO", "b")], [])


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "json-invalid", 1),
        ('{"nodes": [\n{"id": "a",}]}', "json-invalid", 2),
        ("[]", "not-a-mapping", None),
        ("{}", "no-entities", None),
        ('{"vertices": []}', "no-entities", None),
        ('{"nodes": {}}', "no-entities", None),
        ('{"nodes": [NaN]}', "json-invalid", None),
        ("[" * 100_000, "json-invalid", None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_file_without_a_graph_is_told(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    entities, edges, found = of_json(tmp_path, text)
    assert (entities, edges) == ([], [])
    assert (code, Severity.ERROR) in [(one.code, one.severity) for one in found]
    assert [one.line for one in found if one.code == code] == [line]


def test_a_key_that_stands_twice_is_told(tmp_path: Path) -> None:
    (entity,), _, found = of_json(tmp_path, '{"nodes": [{"id": "a", "label": "A", "id": "b"}]}')
    assert (entity.id, [one.code for one in found]) == ("a", ["duplicate-key"])


@pytest.mark.parametrize("meta", ["x", [], {"datum": 83}])
def test_meta_that_cannot_be_read_is_told(tmp_path: Path, meta: Any) -> None:
    _, _, found = of_json(tmp_path, {"meta": meta, "nodes": []})
    assert told(found) == [("unread-entity-key", None)]


@pytest.mark.parametrize("name", ["g.json", "g.csv"])
def test_a_mark_of_utf_8_before_the_first_line_says_nothing(tmp_path: Path, name: str) -> None:
    text = '{"nodes": [{"id": "ä", "label": "A"}]}' if name.endswith("json") else "id,label\r\nä,A\r\n"
    (tmp_path / name).write_text(text, "utf-8-sig")
    entities, _, found = read(tmp_path / name)
    assert (entities, found) == ([Entity("ä", "A")], ())


@pytest.mark.parametrize("name", ["g.json", "g.csv"])
def test_what_is_not_utf_8_is_told_with_its_line(tmp_path: Path, name: str) -> None:
    text = '{"nodes": [\n{"id": "ä", "label": "A"}]}' if name.endswith("json") else "id,label\nä,A\nb,B\n"
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    entities, _, found = read(tmp_path / name)
    assert (entities, told(found)) == ([], [("not-utf-8", 2)])
    assert found[0].fix == "save the file as UTF-8"


@pytest.mark.parametrize("name", ["g.json", "g.csv"])
def test_what_is_no_file_is_told_as_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / f"folder{name}").mkdir()
    os.mkfifo(tmp_path / f"pipe{name}")
    for path, code in ((name, "vanished"), (f"folder{name}", "not-a-file"), (f"pipe{name}", "not-a-file")):
        _, _, found = read(tmp_path / path)
        assert [(one.code, one.severity, one.path) for one in found] == [
            (code, Severity.ERROR, (tmp_path / path).as_posix())
        ]


def test_a_json_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_reading, "LARGEST_JSON", 100)
    entities, _, found = of_json(tmp_path, ship({"name": "x" * 100}))
    assert (entities, told(found)) == ([], [("file-too-large", None)])


def test_of_very_many_findings_the_first_are_listed(tmp_path: Path) -> None:
    entities, _, found = of_json(tmp_path, {"nodes": [{"id": "a", "label": "A"}] * (entity_reading.MOST_FINDINGS + 8)})
    assert len(entities) == 1
    assert len(found) == entity_reading.MOST_FINDINGS + 1
    assert (found[-1].code, found[-1].severity) == ("more-findings", Severity.ERROR)
    assert found[-1].message == "more findings are not listed"


def test_cells_of_csv_are_typed_as_json_types_them(tmp_path: Path) -> None:
    rows = 'id,label,name,p5,district,acres,open,rules\na,Lease,"Ranch, North",683214,08,640.0,true,"{""line"": 467}"\n'
    (entity,), _, found = of_csv(tmp_path, rows)
    assert entity.properties == {
        "name": "Ranch, North",
        "p5": 683214,
        "district": "08",
        "acres": 640.0,
        "open": True,
        "rules": {"line": 467},
    }
    assert found == []


def test_an_empty_cell_is_no_property_and_null_is_one(tmp_path: Path) -> None:
    (entity,), _, _ = of_csv(tmp_path, "id,label,a,b,c\n1,A,,null,\n")
    assert entity == Entity("1", "A", {"b": None})


def test_columns_of_csv_stand_in_any_order_and_spelling(tmp_path: Path) -> None:
    rows = "name,LABEL, Id ,Latitude,aliases,longitude,datum\nx,Ship,a,53.5,A 1|B,-10,WGS 84\ny,Ship,b,,,,\n"
    entities, _, found = of_csv(tmp_path, rows)
    assert entities == [
        Entity("a", "Ship", {"name": "x"}, ("A 1", "B", "x"), Point(53.5, -10, "WGS84")),
        Entity("b", "Ship", {"name": "y"}, ("y",)),
    ]
    assert found == []


def test_a_place_of_csv_without_datum_or_with_half_its_degrees_is_told(tmp_path: Path) -> None:
    rows = "id,label,latitude,longitude,datum\na,A,1,2,\nb,A,1,,NAD83\nc,A,x,2,NAD83\n"
    entities, _, found = of_csv(tmp_path, rows)
    assert [one.location for one in entities] == [None, None, None]
    assert told(found) == [("no-datum", 2), ("bad-location", 3), ("bad-location", 4)]


def test_a_datum_alone_is_a_property_that_places_go_by(tmp_path: Path) -> None:
    rows = 'id,label,datum,berth\na,Ship,NAD27,"{""lat"": 1, ""lon"": 2}"\n'
    (entity,), _, found = of_csv(tmp_path, rows)
    assert (entity.location, entity.properties["datum"], found) == (Point(1, 2, "NAD27"), "NAD27", [])


def test_a_property_with_the_name_of_another_column_is_written_with_a_word_before_it(tmp_path: Path) -> None:
    (entity,), _, _ = of_csv(tmp_path, "id,label,properties.id,properties.label\na,A,1,2\n")
    assert entity.properties == {"id": 1, "label": 2}


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ("", "no-entities"),
        ("\n\n", "no-entities"),
        ("name,age", "bad-columns"),
        ("id;label", "bad-columns"),
        ("id,label,", "bad-columns"),
        ("id,label,a,a", "bad-columns"),
        ("id,label,a, a", "bad-columns"),
        ("id,label,ID", "bad-columns"),
        ("source,target", "bad-columns"),
        ("id,label,a,properties.a", "bad-columns"),
    ],
)
def test_a_first_line_that_names_no_columns_is_told(tmp_path: Path, first: str, code: str) -> None:
    entities, edges, found = of_csv(tmp_path, f"{first}\n" if first else "")
    assert (entities, edges, [one.code for one in found]) == ([], [], [code])
    assert found[0].fix


def test_a_row_that_cannot_be_taken_apart_is_told_with_its_line_and_the_others_load(tmp_path: Path) -> None:
    rows = 'id,label,log\n1,A,"two\nlines"\n2,A\n3,A,b,c\n\n5,A,"a ""quoted"" one"\n,A,x\n6,A,z\n'
    entities, _, found = of_csv(tmp_path, rows)
    assert [one.id for one in entities] == ["1", "5", "6"]
    assert told(found) == [("bad-row", 4), ("bad-row", 5), ("bad-entity", 8)]


@pytest.mark.parametrize("rest", ["never\n3,A,x\n", "y\n" * (entity_reading.LARGEST_CELL // 2) + "\n3,A,z\n"], ids=len)
def test_a_quotation_mark_that_is_never_closed_is_told_where_it_opens_and_ends_the_reading(
    tmp_path: Path, rest: str
) -> None:
    (tmp_path / "g.csv").write_text(f'id,label,log\n1,A,x\n2,A,"{rest}', "utf-8")
    files = EntityFiles(tmp_path / "g.csv")
    assert [one.id for one in files.entities()] == ["1"]
    assert told(files.unread) == told(files.diagnostics) == [("bad-row", 3)]


def test_a_line_without_an_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_reading, "LARGEST_LINE", 1000)
    entities, _, found = of_csv(tmp_path, "id,label\n1,A\n2," + "x" * 5000)
    assert ([one.id for one in entities], told(found)) == (["1"], [("file-too-large", 3)])


def test_two_files_of_csv_are_told_apart_by_their_first_lines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,relation,target,type\nx,TO,y,rope\n", "utf-8")
    (tmp_path / "b.csv").write_text("id,label\nx,A\ny,A\n", "utf-8")
    for files in (("a.csv", "b.csv"), ("b.csv", "a.csv")):
        entities, edges, found = read(*(tmp_path / one for one in files))
        assert ([one.id for one in entities], found) == (["x", "y"], ())
        assert edges == [Edge("x", "TO", "y", {"type": "rope"})]


@pytest.mark.parametrize(
    ("names", "named"),
    [
        ((), "nothing"),
        (("a.yaml",), "a.yaml"),
        (("a.json", "b.csv"), "b.csv"),
        (("a.json", "a.json"), "a.json"),
        (("a.csv", "b.csv", "c.csv"), "c.csv"),
        (("a.csv", "a.csv"), "a.csv"),
    ],
)
def test_files_that_do_not_go_together_are_refused(tmp_path: Path, names: tuple[str, ...], named: str) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("id,label\n", "utf-8")
    (tmp_path / "a.json").write_text('{"nodes": []}', "utf-8")
    with pytest.raises(InvalidValue, match=named):
        EntityFiles(*(tmp_path / name for name in names))


def test_rows_are_read_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("id,label,name\n")
        file.writelines(f"{number},Ship,Ship {number}\n" for number in range(20_000))
    first = iter(EntityFiles(path).entities())
    assert next(first).id == "0"
    os.truncate(path, 1 << 16)
    # What is read has not run ahead: most of the rows are gone.
    assert 1000 < sum(1 for _ in first) < 10_000


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("g.json", b'{"nodes": [', "json-invalid"),
        ("g.json", b"{}", "no-entities"),
        ("g.json", b'{"nodes": ["\xe4"]}', "not-utf-8"),
        ("g.csv", b"", "no-entities"),
        ("g.csv", b"id,label\na,A\n\xe4,A\n", "not-utf-8"),
        ("g.csv", b"a,b\n", "bad-columns"),
        ("g.csv", b'"a"b\nid,label\n', "bad-row"),
    ],
)
def test_what_keeps_a_file_from_being_read_to_its_end_is_told_apart(
    tmp_path: Path, name: str, content: bytes, code: str
) -> None:
    (tmp_path / name).write_bytes(content)
    graph = read_graph(tmp_path / name)
    assert [one.code for one in graph.unread] == [code]
    assert set(graph.unread) <= set(graph.diagnostics)


def test_what_is_wrong_with_one_entity_or_edge_does_not_keep_its_file_from_being_read(tmp_path: Path) -> None:
    data = {"nodes": [{"id": "a"}, {"id": "b", "label": "B"}], "edges": [{}], "other": 1}
    (tmp_path / "g.json").write_text(json.dumps(data), "utf-8")
    (tmp_path / "g.csv").write_text("id,label\na,A,x\na,,\n", "utf-8")
    for graph in (read_graph(tmp_path / "g.json"), read_graph(tmp_path / "g.csv")):
        assert (len(graph.diagnostics) > 1, graph.unread) == (True, ())


@pytest.mark.parametrize("text", ["id,label\ra,A\rb,A\r", "id,label\na,A\rb,A\n"], ids=["all of it", "a line"])
def test_a_line_break_of_another_age_ends_the_reading(tmp_path: Path, text: str) -> None:
    _, _, (found,) = of_csv(tmp_path, text)
    assert found.code == "bad-row"
    assert "end lines with LF or CR LF" in found.fix
