"""What `--json` prints is published as JSON Schema, for every command."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from skillweave.cli.schema import names, published
from tests.cli.published import require_valid, validator

PACK = "support-triage"


def test_the_list_has_the_id_of_each_with_its_version(cli: Any) -> None:
    listed = cli("schema", "--json").data["schemas"]
    assert [one["name"] for one in listed] == names()
    assert {one["name"] for one in listed} > {"weave", "error", "state", "injection"}
    assert listed[1] == {"name": "weave", "id": "urn:skillweave:schema:weave:1"}
    assert cli("schema").out.splitlines()[1] == "weave            urn:skillweave:schema:weave:1"


def test_each_is_a_schema_of_the_draft_that_it_names() -> None:
    for name in names():
        document = published(name)
        assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema", name
        assert document["$id"] == f"urn:skillweave:schema:{name}:1"
        Draft202012Validator.check_schema(document)


def test_a_schema_is_printed_alike_with_and_without_json(cli: Any) -> None:
    for name in ("weave", "ledger-show", "error", "state"):
        assert cli("schema", name).data == cli("schema", name, "--json").data == published(name)


def test_what_is_printed_names_its_schema_first(cli: Any, small: Path) -> None:
    printed = json.loads(cli("check", "--skills", small, "--json").out)
    assert next(iter(printed.items())) == ("$schema", "urn:skillweave:schema:check:1")


def test_an_error_names_its_schema_first(cli: Any) -> None:
    printed = json.loads(cli("show", "nothing", "--json").out)
    assert next(iter(printed.items())) == ("$schema", "urn:skillweave:schema:error:1")


def test_an_answer_that_names_no_schema_is_told_from_a_right_one() -> None:
    assert list(validator("ledger-reconsider").iter_errors({"withdrawn": []}))


def test_a_name_that_is_none_is_one_line(cli: Any) -> None:
    done = cli("schema", "weav")
    assert (done.code, done.out) == (1, "")
    assert done.err == "skillweave: there is no schema 'weav'; did you mean 'weave'?\n"
    assert cli("schema", "xyz").err == "skillweave: there is no schema 'xyz'; `skillweave schema` lists them\n"


def test_a_wrong_answer_is_told_from_a_right_one() -> None:
    right = {"$schema": "urn:skillweave:schema:ledger-reconsider:1", "withdrawn": []}
    require_valid("ledger-reconsider", right)
    for wrong in ({"withdrawn": []}, {**right, "withdrawn": "yes"}, {**right, "more": 1}):
        assert list(validator("ledger-reconsider").iter_errors(wrong))


@pytest.fixture
def ledger(cli: Any, examples: Path, tmp_path: Path) -> tuple[object, ...]:
    """The options of a ledger with a conversation, which was given a skill with a checkpoint."""
    options = ("--skills", examples, "--ledger", tmp_path / "state.db")
    cli("weave", "--role", "assistant", "SKILL_SELECT:invoice-checking", "--conversation", "c1", *options)
    return options


CALL = '{"id": "call_1", "tool": "pay_invoice", "arguments": {"number": "INV-1"}}'
LEDGER = [
    ("show", "c1"),
    ("show", "c1", "invoice-checking"),
    ("approve", "c1", "invoice-checking", "payment_release", "--by", "Ann", "--call", CALL),
    ("reject", "c1", "invoice-checking", "payment_release", "--by", "Ann"),
    ("reconsider", "c1", "invoice-checking", "payment_release"),
    ("disengage", "c1", "invoice-checking"),
    ("unload", "c1", "invoice-checking"),
]


@pytest.mark.parametrize("words", LEDGER, ids=" ".join)
def test_what_the_commands_of_the_ledger_print_is_as_published(
    cli: Any, ledger: tuple[object, ...], words: tuple[str, ...]
) -> None:
    assert cli("ledger", *words, *ledger, "--json").code == 0


@pytest.mark.parametrize("words", [("evict", "c1", "invoice-checking"), ("clear", "c1"), ("show", "c2")], ids=" ".join)
def test_what_needs_no_skills_is_as_published(cli: Any, ledger: tuple[object, ...], words: tuple[str, ...]) -> None:
    cli("ledger", *words, *ledger[2:], "--json")


def test_the_decisions_of_turns_are_as_published(cli: Any, ledger: tuple[object, ...]) -> None:
    assert cli("why", "c1", *ledger[2:], "--json").data["decisions"]


WITH_SKILLS = [
    ("weave", "Say bonjour to Alice"),
    ("weave", "What can you do?", "--catalog", "always"),
    ("match", "Is this invoice right?"),
    ("show",),
    ("show", "invoice-checking"),
    ("check",),
    ("compose", "--validate", "feature-build"),
    ("compose", "--validate", "feature-spec", "feature-build"),
    ("compose", "feature-spec", "feature-build"),
    ("compose", "feature-spec", "--spawn", "Add a form"),
    ("compose", "feature-build", "nothing", "--spawn", "Add a form"),
    ("doctor",),
    ("why", "nobody"),
]


@pytest.mark.parametrize("words", WITH_SKILLS, ids=" ".join)
def test_what_is_said_of_skills_is_as_published(cli: Any, examples: Path, words: tuple[str, ...]) -> None:
    skills = () if words[0] == "why" else ("--skills", examples)
    assert cli(*words, *skills, "--json").data


GRAPH = [
    ("next", PACK, "--ctx", json.dumps({"user": "I was charged twice"})),
    ("reachable", PACK),
    ("check", PACK),
    ("show", PACK),
    ("draw", PACK),
]


@pytest.mark.parametrize("words", GRAPH, ids=lambda words: words[0])
def test_what_is_said_of_a_graph_is_as_published(cli: Any, words: tuple[str, ...]) -> None:
    assert cli("graph", *words, "--json").code == 0


def test_a_turn_in_a_graph_and_a_played_script_are_as_published(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(
        '[{"user": "I was charged twice", "expect": {"by": "pick"}}]', encoding="utf-8"
    )
    assert cli("graph", "simulate", PACK, tmp_path / "script.json", "--json").data["moves"]
    assert cli("weave", "--pack", PACK, "I was charged twice", "--json").data["move"]


def test_what_begins_and_what_plays_is_as_published(cli: Any, tmp_path: Path) -> None:
    assert cli("init", "tea-making", "--in", tmp_path, "--json").code == 0
    assert cli("demo", "--json").code == 0
