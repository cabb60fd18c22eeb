"""`skillweave entities load` and `export`: files into a graph and out of it, all or nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.harbour import HARBOUR, write_harbour

TUGS = "id,label,name,pull_t\ntug-anna,Tug,Anna,45\ntug-bert,Tug,Bert,60\n"
JOBS = "source,relation,target,day\ntug-anna,TOWS,ship-aurora,2026-03-02\ntug-bert,TOWS,tug-anna,2026-03-03\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the graph harbour.json, the pack harbour.yaml and two CSV files in it."""
    monkeypatch.chdir(tmp_path)
    write_harbour(tmp_path)
    (tmp_path / "tugs.csv").write_text(TUGS, encoding="utf-8")
    (tmp_path / "jobs.csv").write_text(JOBS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def store(tables_url: str) -> str:
    """The URL of an empty database, of each kind."""
    return tables_url


@pytest.fixture
def file_store(folder: Path) -> str:
    """The URL of a SQLite file that is not there yet."""
    return "sqlite:///graph.db"


def exported(cli: Any, url: str, *more: str) -> Any:
    """All that the graph holds, as data."""
    assert cli("entities", "export", "all.json", "--entities", url, *more).code == 0
    data = json.loads(Path("all.json").read_text(encoding="utf-8"))
    Path("all.json").unlink()
    return data


def ids(cli: Any, url: str, *more: str) -> list[str]:
    return [node["id"] for node in exported(cli, url, *more)["nodes"]]


def test_a_graph_file_is_loaded_and_counted(cli: Any, store: str) -> None:
    done = cli("entities", "load", "harbour.json", "--skills", "harbour.yaml", "--entities", store, "--json")
    assert (done.code, done.err) == (0, "")
    assert (done.data["entities"], done.data["edges"], done.data["findings"]) == (6, 2, [])
    said = cli("entities", "load", "harbour.json", "--skills", "harbour.yaml", "--entities", store)
    assert said.out.startswith("6 entities and 2 edges loaded into ")


def test_two_csv_files_are_told_apart_by_their_first_lines_in_any_order(cli: Any, store: str) -> None:
    cli("entities", "load", "harbour.json", "--entities", store)
    done = cli("entities", "load", "jobs.csv", "tugs.csv", "--entities", store, "--json")
    assert (done.code, done.data["entities"], done.data["edges"]) == (0, 2, 2)
    shown = cli("entities", "show", "tug-anna", "--entities", store, "--json").data
    assert shown["entity"]["properties"]["name"] == "Anna"
    assert [one["edge"]["relation"] for one in shown["neighbours"]] == ["TOWS", "TOWS"]


def test_loading_again_replaces_what_has_the_same_id_and_keeps_the_rest(cli: Any, store: str, folder: Path) -> None:
    cli("entities", "load", "harbour.json", "--entities", store)
    changed = {"nodes": [{"id": "berth-9", "label": "Berth", "properties": {"name": "Berth Nine"}}], "edges": []}
    (folder / "changed.json").write_text(json.dumps(changed), encoding="utf-8")
    cli("entities", "load", "changed.json", "--entities", store)
    nodes = {node["id"]: node for node in exported(cli, store)["nodes"]}
    assert (len(nodes), nodes["berth-9"]["properties"]) == (6, {"name": "Berth Nine"})


def test_tenants_are_kept_apart(cli: Any, store: str) -> None:
    cli("entities", "load", "harbour.json", "--entities", store, "--tenant", "acme")
    assert (len(ids(cli, store, "--tenant", "acme")), ids(cli, store)) == (6, [])


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_what_is_exported_is_loaded_as_the_same_graph(cli: Any, store: str, suffix: str) -> None:
    cli("entities", "load", "harbour.json", "--skills", "harbour.yaml", "--entities", store)
    before = exported(cli, store)
    files = ["copy.json"] if suffix == "json" else ["nodes.csv", "edges.csv"]
    done = cli("entities", "export", *files, "--entities", store)
    assert (done.code, done.out.split()) == (0, ["written", "6", "entities", "and", "2", "edges", "to", *_and(files)])
    assert cli("entities", "load", *files, "--entities", "sqlite:///copy.db").code == 0
    assert exported(cli, "sqlite:///copy.db") == before


def _and(files: list[str]) -> list[str]:
    return files if len(files) == 1 else [files[0], "and", files[1]]


def test_an_export_does_not_overwrite_a_file_when_it_fails(cli: Any, folder: Path) -> None:
    (folder / "kept.json").write_text("mine", encoding="utf-8")
    done = cli("entities", "export", "kept.json", "--entities", "postgresql://me@127.0.0.1:9/graph?timeout=2")
    assert done.code == 3
    assert (folder / "kept.json").read_text(encoding="utf-8") == "mine"
    assert sorted(one.name for one in folder.iterdir() if "kept" in one.name) == ["kept.json"]


def test_an_edge_to_nothing_stops_all_of_it(cli: Any, store: str) -> None:
    cli("entities", "load", "tugs.csv", "--entities", store)
    done = cli("entities", "load", "jobs.csv", "--entities", store)
    assert (done.code, done.out) == (1, "")
    assert "'ship-aurora'" in done.err
    assert exported(cli, store)["edges"] == []


def test_a_bad_entity_is_left_out_and_named_with_its_place_and_the_code_is_1(
    cli: Any, folder: Path, store: str
) -> None:
    bad = {"nodes": [*HARBOUR["nodes"], {"id": "no-label", "properties": {}}], "edges": HARBOUR["edges"]}
    (folder / "bad.json").write_text(json.dumps(bad), encoding="utf-8")
    done = cli("entities", "load", "bad.json", "--entities", store)
    assert done.code == 1
    assert "bad.json" in done.out
    assert "'no-label'" in done.out
    assert "6 entities and 2 edges loaded into " in done.out
    assert len(ids(cli, store)) == 6


def test_an_edge_to_an_entity_that_was_left_out_says_why_it_was(cli: Any, folder: Path, store: str) -> None:
    nodes = [{"id": "tug-1", "label": "Tug"}, {"id": "tug-2", "properties": {}}]
    edges = [{"source": "tug-1", "relation": "TOWS", "target": "tug-2"}]
    (folder / "bad.json").write_text(json.dumps({"nodes": nodes, "edges": edges}), encoding="utf-8")
    done = cli("entities", "load", "bad.json", "--entities", store)
    assert (done.code, done.out) == (1, "")
    first, second = done.err.splitlines()
    assert "edges name entities" in first
    assert "bad.json: error: nodes[1]: entity 'tug-2'" in second
    assert ids(cli, store) == []


def test_a_file_that_cannot_be_read_to_its_end_stops_all_of_it(cli: Any, folder: Path, store: str) -> None:
    rows = "".join(f"tug-{number},Tug,Tug {number},40\n" for number in range(3000))
    (folder / "open.csv").write_text(f'id,label,name,pull_t\n{rows}tug-x,Tug,"never closed,40\n', encoding="utf-8")
    done = cli("entities", "load", "open.csv", "--entities", store)
    assert (done.code, done.out) == (1, "")
    assert "open.csv:3002: " in done.err
    assert ids(cli, store) == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["nowhere.json"], "nowhere.json"),
        (["empty.json"], "empty.json"),
        (["empty.csv"], "empty.csv"),
        (["harbour.yaml"], "harbour.yaml"),
        (["harbour.json", "tugs.csv"], "tugs.csv"),
        (["harbour.json", "harbour.json"], "harbour.json"),
        (["tugs.csv", "tugs.csv"], "tugs.csv"),
        (["."], "."),
    ],
)
def test_a_file_that_holds_no_graph_is_named_and_nothing_is_made(
    cli: Any, folder: Path, file_store: str, files: list[str], said: str
) -> None:
    for name in ("empty.json", "empty.csv"):
        (folder / name).touch()
    done = cli("entities", "load", *files, "--entities", file_store)
    assert done.code == 1
    assert said in done.err + done.out
    assert not (folder / "graph.db").exists()


@pytest.mark.parametrize(
    ("url", "said", "code"),
    [
        (None, "no entities are named", 1),
        ("graph.json", "'graph.json' is no database that entities can be loaded into", 1),
        ("me:hunter2@db/graph", "'***@db/graph' is no database", 1),
        ("nosuch://me:hunter2@db/graph", "nosuch", 1),
        ("postgresql://me:hunter2@127.0.0.1:9/graph?timeout=2", "127.0.0.1:9/graph", 3),
    ],
)
def test_what_is_no_database_is_one_line_without_its_password(
    cli: Any, folder: Path, url: str | None, said: str, code: int
) -> None:
    done = cli("entities", "load", "harbour.json", *(() if url is None else ("--entities", url)))
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert "hunter2" not in done.err


@pytest.mark.parametrize("files", [["a.txt"], ["a.json", "b.json"], ["a.csv"], ["a.csv", "b.csv", "c.csv"]])
def test_an_export_is_to_one_json_file_or_two_csv_files(cli: Any, file_store: str, files: list[str]) -> None:
    cli("entities", "load", "harbour.json", "--entities", file_store)
    done = cli("entities", "export", *files, "--entities", file_store)
    assert (done.code, done.out) == (1, "")
    assert "FILE.json" in done.err
    assert "ENTITIES.csv EDGES.csv" in done.err


def test_the_tables_of_the_graph_come_with_migrate(cli: Any, database_url: str) -> None:
    assert cli("store", "migrate", "--store", database_url, "--check").code == 1
    assert cli("store", "migrate", "--store", database_url).code == 0
    assert cli("store", "migrate", "--store", database_url, "--check").code == 0
    assert cli("entities", "load", "harbour.json", "--entities", database_url).code == 0


def test_doctor_looks_at_the_entities(cli: Any, store: str) -> None:
    cli("entities", "load", "harbour.json", "--entities", store)
    found = [
        one for one in cli("doctor", "--entities", store, "--json").data["findings"] if one["section"] == "entities"
    ]
    assert {one["level"] for one in found} == {"ok"}
    assert any(one["message"] == "can be read" for one in found)


def test_doctor_says_that_entities_are_not_there(cli: Any) -> None:
    done = cli("doctor", "--entities", "nowhere.json", "--json")
    found = [one for one in done.data["findings"] if one["section"] == "entities"]
    assert (done.code, [one["level"] for one in found]) == (1, ["problem"])


@pytest.mark.soak
def test_an_interrupted_load_leaves_nothing(folder: Path, cli: Any, file_store: str) -> None:
    nodes = [
        {"id": f"ship-{number}", "label": "Ship", "properties": {"name": f"Ship {number}"}} for number in range(60_000)
    ]
    (folder / "many.json").write_text(json.dumps({"nodes": nodes, "edges": []}), encoding="utf-8")
    words = [sys.executable, "-m", "skillweave", "entities", "load", "many.json", "--entities", file_store]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ) as running:
        until = time.monotonic() + 60
        while not (folder / "graph.db").exists() and running.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err.decode()) == (130, "\nskillweave: interrupted; nothing is loaded. Run it again\n")
    assert ids(cli, file_store) == []
