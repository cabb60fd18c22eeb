"""`skillweave entities`: one entity, what lies near, and what a skill is told; on every kind of graph."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.harbour import HARBOUR, write_harbour


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the graph harbour.json and the pack harbour.yaml in it."""
    monkeypatch.chdir(tmp_path)
    write_harbour(tmp_path)
    return tmp_path


@pytest.fixture(params=["a file", "SQLite", "PostgreSQL"])
def graph(request: pytest.FixtureRequest, folder: Path, cli: Any) -> str:
    """The same graph as a JSON file, in a SQLite file and in a PostgreSQL."""
    if request.param == "a file":
        return "harbour.json"
    url = "sqlite:///harbour.db" if request.param == "SQLite" else request.getfixturevalue("postgres_tables_url")
    assert cli("entities", "load", "harbour.json", "--skills", "harbour.yaml", "--entities", url).code == 0
    return str(url)


Entities = Callable[..., Any]


@pytest.fixture
def entities(cli: Any, graph: str) -> Entities:
    """A command of the group, on the graph; beside a graph file stands the pack that says what its names are."""

    def ran(*words: object, code: int = 0) -> Any:
        pack = ("--skills", "harbour.yaml") if graph == "harbour.json" or words[0] == "context" else ()
        done = cli("entities", *words, *pack, "--entities", graph)
        assert done.code == code, done.err
        assert done.err.count("\n") == (0 if code == 0 else 1)
        return done

    return ran


def test_an_entity_is_shown_with_what_is_known_of_it_and_its_neighbours(entities: Entities) -> None:
    out = entities("show", "ship-aurora").out
    assert out.startswith("ship-aurora (Ship)\n")
    assert "imo              IMO 9321483" in out
    assert "BOOKED_AT -> berth-7 (Berth): Berth 7 [day 2026-03-02]" in out


@pytest.mark.parametrize("ref", ["IMO 9321483", "imo-9321483", "aurora"])
def test_an_entity_is_found_by_its_other_names_in_any_spelling(entities: Entities, ref: str) -> None:
    assert entities("show", ref, "--json").data["entity"]["id"] == "ship-aurora"


def test_a_neighbour_is_shown_from_the_other_end_of_the_edge_too(entities: Entities) -> None:
    assert "BOOKED_AT <- ship-aurora (Ship)" in entities("show", "berth-7").out


def test_people_see_twenty_neighbours_and_how_many_more_there_are(cli: Any, folder: Path) -> None:
    ships = [{"id": f"ship-{number}", "label": "Ship"} for number in range(22)]
    edges = [{"source": one["id"], "relation": "BOOKED_AT", "target": "berth-7"} for one in ships]
    (folder / "many.json").write_text(
        json.dumps({"nodes": [*ships, {"id": "berth-7", "label": "Berth"}], "edges": edges}), encoding="utf-8"
    )
    words = ("entities", "show", "berth-7", "--entities", "many.json")
    assert "and 2 more (--json lists them)" in cli(*words).out
    assert len(cli(*words, "--json").data["neighbours"]) == 22


def test_an_unknown_name_suggests_the_nearest_one(entities: Entities) -> None:
    assert "no entity 'ship-aurara'; did you mean 'ship-aurora'?" in entities("show", "ship-aurara", code=1).err
    assert "no entity 'xyz'; check its spelling" in entities("show", "xyz", code=1).err


def test_a_name_that_several_have_names_their_ids(cli: Any, folder: Path) -> None:
    twin = {"id": "ship-aurora-2", "label": "Ship", "properties": {"name": "Aurora"}}
    (folder / "twins.json").write_text(json.dumps({**HARBOUR, "nodes": [*HARBOUR["nodes"], twin]}), encoding="utf-8")
    done = cli("entities", "show", "Aurora", "--skills", "harbour.yaml", "--entities", "twins.json")
    assert done.code == 1
    assert "name one by its id: 'ship-aurora', 'ship-aurora-2'" in done.err


def test_what_lies_about_an_entity_is_listed_nearest_first_without_itself(entities: Entities) -> None:
    found = entities("near", "--of", "Berth 7", "--radius", "3000", "--json").data
    assert [one["entity"]["id"] for one in found["found"]] == ["berth-8", "berth-9"]
    assert found["found"][0]["distance_ft"] == pytest.approx(739.5, abs=1)
    lines = entities("near", "--of", "Berth 7", "--radius", "3000").out.splitlines()
    assert lines[0].endswith(" ft  berth-8 (Berth): Berth 8")


def test_what_lies_about_a_point_is_listed_with_the_distance(entities: Entities) -> None:
    words = ("near", "--at", "53.5413,9.9668", "--datum", "WGS84", "--radius", "100")
    found = entities(*words, "--json").data
    assert [(one["entity"]["id"], one["distance_ft"]) for one in found["found"]] == [("berth-7", 0.0)]
    assert entities(*words).out.startswith("0.0 ft  berth-7 (Berth): Berth 7\n")


def test_what_was_not_compared_for_its_datum_is_said(entities: Entities) -> None:
    words = ("near", "--of", "Berth 7", "--radius", "100")
    assert entities(*words, "--json").data["other_datums"] == {"NAD27": 1}
    out = " ".join(entities(*words).out.split())
    assert "No entities with a place in WGS84 lie within 100.0 ft of 53.5413, 9.9668 (WGS84)." in out
    assert "1 entity about there is not compared, as its degrees are of another datum: 1 in NAD27" in out


def test_without_a_radius_it_is_a_mile(entities: Entities) -> None:
    found = entities("near", "--of", "Berth 7", "--json").data["found"]
    assert all(one["distance_ft"] <= 5280 for one in found)
    assert "No entities with a place in NAD27 lie within 5,280.0 ft" in " ".join(
        entities("near", "--at", "10,10", "--datum", "NAD27").out.split()
    )


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--radius", "5"), "name one place: --at LAT,LON with --datum, or --of REF", 1),
        (("--of", "berth-7", "--at", "1,2", "--radius", "5"), "name one place", 1),
        (("--of", "berth-7", "--datum", "NAD27", "--radius", "5"), "--datum is about --at", 1),
        (("--of", "ship-aurora", "--radius", "5"), "entity 'ship-aurora' has no location; name a place", 1),
        (("--at", "53.5,9.9", "--radius", "5"), "add --datum, such as --datum WGS84", 2),
        (("--at", "north", "--datum", "WGS84", "--radius", "5"), "'north' is no LAT,LON in degrees", 2),
        (("--at", "95,9", "--datum", "WGS84", "--radius", "5"), "95", 2),
        (("--at", "53.5,9.9", "--datum", "WGS84", "--radius", "-1"), "radius", 1),
        (("--at", "53.5,9.9", "--datum", "WGS84", "--radius", "far"), "'--radius'", 2),
    ],
)
def test_a_place_that_cannot_be_asked_about_is_one_line(
    cli: Any, folder: Path, words: tuple[str, ...], said: str, code: int
) -> None:
    done = cli("entities", "near", *words, "--skills", "harbour.yaml", "--entities", "harbour.json")
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_the_context_is_printed_as_the_model_sees_it_with_its_tokens(entities: Entities) -> None:
    out = entities("context", "Aurora", "--skill", "berth-planning").out
    assert out.startswith(
        "## Entity Context\n"
        "Ship: Aurora (IMO 9321483), draught 9.8 m\n"
        "Booked berths:\n"
        "- Berth 7, depth 11.5 m, 2026-03-02\n"
    )
    assert "tags             mooring" in out
    assert "tokens           " in out


def test_a_tag_shows_its_sections_alone(entities: Entities) -> None:
    data = entities("context", "Aurora", "--skill", "crewing", "--json").data
    assert [one["name"] for one in data["sections"]] == ["ship"]
    assert data["tokens"] > 0


def test_the_nodes_of_each_line_are_named(entities: Entities) -> None:
    data = entities("context", "Aurora", "--skill", "berth-planning", "--json").data
    bookings = data["sections"][1]["lines"]
    assert "berth-7" in bookings[1]["entities"]
    assert "m, 2026-03-02  <- " in entities("context", "Aurora", "--skill", "berth-planning", "--nodes").out


def test_a_tag_that_the_pack_does_not_list_is_reported(entities: Entities) -> None:
    data = entities("context", "Aurora", "--skill", "customs-papers", "--json").data
    assert data["unknown_tags"] == ["customs"]
    assert "not listed       tag customs: the pack" in entities("context", "Aurora", "--skill", "customs-papers").out


def test_an_entity_of_which_nothing_is_shown_says_so(entities: Entities) -> None:
    assert "Nothing of this entity is shown for these tags." in entities("context", "berth-7", "--skill", "crewing").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--skill", "berth-planing"), "did you mean 'berth-planning'?"),
        (("--skill", "greeting"), "skill 'greeting' has no domain tags"),
    ],
)
def test_context_for_nothing_is_one_line(entities: Entities, words: tuple[str, ...], said: str) -> None:
    assert said in entities("context", "Aurora", *words, code=1).err


def test_without_a_pack_that_says_what_is_shown_there_is_no_context(cli: Any, folder: Path, small: Path) -> None:
    done = cli("entities", "context", "ship-aurora", "--skill", "tea", "--skills", small, "--entities", "harbour.json")
    assert done.code == 1
    assert "none of these skills' packs says what is shown of entities" in done.err


@pytest.mark.parametrize("command", [("show", "x"), ("near", "--of", "x", "--radius", "5"), ("export", "out.json")])
@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        (None, "no entities are named; add --entities sqlite:///FILE or", 1),
        ("", "no entities are named", 1),
        ("nowhere.json", "there are no entities in 'nowhere.json'", 1),
        ("sqlite:///nowhere.db", "there are no entities in 'nowhere.db'; check its name, or load some", 1),
        ("mysql://me:hunter2@db/graph", "mysql://", 1),
        ("postgresql://me:hunter2@127.0.0.1:9/graph?timeout=2", "127.0.0.1:9/graph", 3),
    ],
)
def test_a_graph_that_is_not_there_is_one_line_without_its_password(
    cli: Any, folder: Path, command: tuple[str, ...], name: str | None, said: str, code: int
) -> None:
    done = cli("entities", *command, *(() if name is None else ("--entities", name)))
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert "hunter2" not in done.err
    assert not (folder / "nowhere.db").exists()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"nodes": 5}', "\ud800"])
def test_a_graph_file_that_holds_no_graph_is_one_line(cli: Any, folder: Path, content: str) -> None:
    (folder / "bad.json").write_text(content, encoding="utf-8", errors="surrogatepass")
    done = cli("entities", "show", "x", "--entities", "bad.json")
    assert (done.code, done.out) == (1, "")
    assert "bad.json" in done.err
    assert done.err.count("\n") == 1


def test_the_entities_can_be_configured(cli: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "skillweave.toml").write_text('entities = "harbour.json"\nskills = ["harbour.yaml"]\n', encoding="utf-8")
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert cli("entities", "show", "Aurora", "--json").data["entity"]["id"] == "ship-aurora"
    woven = cli("weave", "Which berth has IMO 9321483?").out
    assert "Ship: Aurora" in woven


def test_a_turn_about_an_entity_gives_what_is_known_of_it_once(cli: Any, folder: Path) -> None:
    words = ("weave", "--skills", "harbour.yaml", "--entities", "harbour.json", "--conversation", "c1", "--json")
    first = cli(*words, "--memory", "ship=Aurora", "Which berth is free?").data
    assert "## Entity Context\nShip: Aurora (IMO 9321483)" in first["messages"][0]["content"]
    assert cli(*words, "--memory", "ship=Aurora", "Which berth is free?").data["messages"] == []


@pytest.mark.parametrize("told", ["option", "environment"])
def test_a_turn_is_about_the_entities_of_the_tenant_and_of_no_other(
    cli: Any, folder: Path, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = ("--entities", "sqlite:///graph.db", "--skills", "harbour.yaml")
    assert cli("entities", "load", "harbour.json", *of, "--tenant", "acme").code == 0
    said = ("weave", *of, "--memory", "ship=Aurora", "Which berth is free?")
    assert "## Entity Context" not in cli(*said).out
    if told == "environment":
        monkeypatch.setenv("SKILLWEAVE_TENANT", "acme")
    assert "Ship: Aurora" in cli(*said, *(("--tenant", "acme") if told == "option" else ())).out
    assert "## Entity Context" not in cli(*said, "--tenant", "other").out


def test_of_a_datum_that_nothing_is_in_it_is_said_that_nothing_was_compared(entities: Entities) -> None:
    out = " ".join(entities("near", "--at", "53.5413,9.9668", "--datum", "Lisbon", "--radius", "100").out.split())
    assert "No entities with a place in LISBON lie within 100.0 ft" in out
    assert "are not compared" in out


def test_a_turn_about_an_entity_that_nobody_knows_says_so(cli: Any, folder: Path) -> None:
    words = ("weave", "--skills", "harbour.yaml", "--entities", "harbour.json", "--memory", "ship=Nautilus")
    done = cli(*words, "Which berth is free?")
    assert done.code == 0
    assert "'Nautilus'" in done.err


def test_entities_of_which_no_pack_shows_anything_are_told(cli: Any, folder: Path, small: Path) -> None:
    done = cli("weave", "--skills", small, "--entities", "harbour.json", "Some tea")
    assert done.code == 0
    assert "a graph of entities is given, and no source says which of its data is shown" in done.err


@pytest.mark.parametrize("command", ["weave", "chat"])
def test_entities_that_are_not_there_are_one_line_in_a_turn(cli: Any, folder: Path, command: str, small: Path) -> None:
    words = ("--skills", small, "--entities", "sqlite:///nowhere.db")
    model = ("--model", "anthropic:claude-sonnet-5", "-m") if command == "chat" else ()
    done = cli(command, *words, *model, "Some tea")
    assert done.code == 1
    assert "there are no entities in 'nowhere.db'" in done.err
    assert not (folder / "nowhere.db").exists()


def test_of_a_graph_file_it_is_told_what_was_left_out(cli: Any, folder: Path) -> None:
    bad = {"nodes": [*HARBOUR["nodes"], {"id": "no-label"}], "edges": []}
    (folder / "bad.json").write_text(json.dumps(bad), encoding="utf-8")
    done = cli("entities", "show", "ship-aurora", "--entities", "bad.json")
    assert done.code == 0
    assert "'no-label'" in done.err
