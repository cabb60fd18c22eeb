"""`--agent`: the skills, the checkpoints and the budget of an agent that a pack describes."""

from pathlib import Path
from typing import Any

import pytest

PACK = """
skills:
  - {id: pay-bill, description: Pays bills., triggers: {keywords: [bill]}, instructions: Pay it.}
  - {id: greet, description: Greets people., triggers: {keywords: [hello]}, instructions: Say bonjour.}
agents:
  - id: clerk
    skills: [pay-bill]
    checkpoints: [{name: sign-off, before: pay, scope: conversation}]
  - {id: poor, skills: [greet], budgets: {tokens_per_execution: 0}}
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.yaml"
    path.write_text(PACK, encoding="utf-8")
    return path


def test_a_turn_of_an_agent_knows_its_skills_only(cli: Any, pack: Path) -> None:
    answer = cli("weave", "--skills", pack, "--agent", "clerk", "hello, the bill", "--json").data
    assert [block["skill_id"] for block in answer["blocks"]] == ["pay-bill"]
    assert [(one["skill_id"], one["name"]) for one in answer["checkpoints"]] == [("pay-bill", "sign-off")]


def test_its_budget_bounds_the_turn_and_the_catalog(cli: Any, pack: Path) -> None:
    answer = cli("weave", "--skills", pack, "--agent", "poor", "hello", "--json").data
    assert (answer["blocks"], answer["decisions"][0]["outcome"]) == ([], "over-budget")
    assert cli("show", "--skills", pack, "--agent", "poor", "--json").data["shown"] == []


def test_the_catalog_and_a_match_are_about_its_skills(cli: Any, pack: Path) -> None:
    shown = cli("show", "--skills", pack, "--agent", "clerk", "--json").data
    assert shown["shown"] == ["pay-bill"]
    assert "greet" not in cli("match", "--skills", pack, "--agent", "clerk", "hello", "--json").out
    assert "greet" in cli("match", "--skills", pack, "hello", "--json").out


def test_a_person_approves_at_the_agents_checkpoint(cli: Any, pack: Path, tmp_path: Path) -> None:
    where = ("--skills", pack, "--ledger", tmp_path / "state.db", "--agent", "clerk")
    cli("weave", *where, "--conversation", "c1", "the bill")
    waiting = cli("ledger", "show", "c1", *where, "--json").data["checkpoints"]
    assert [(one["skill_id"], one["name"]) for one in waiting] == [("pay-bill", "sign-off")]
    cli("ledger", "approve", "c1", "pay-bill", "sign-off", "--by", "Zoë", *where)
    assert cli("ledger", "show", "c1", *where, "--json").data["checkpoints"] == []


@pytest.mark.parametrize("command", [("weave", "hello"), ("match", "hello"), ("show",)])
def test_an_unknown_agent_is_answered_with_the_likely_one(cli: Any, pack: Path, command: tuple[str, ...]) -> None:
    failed = cli(*command, "--skills", pack, "--agent", "clark")
    assert failed.code == 1
    assert "agent 'clark' is not known; did you mean 'clerk'?" in failed.err


def test_an_agent_that_is_left_out_is_an_error_of_the_pack_and_no_skipped_skill(cli: Any, pack: Path) -> None:
    pack.write_text(PACK.replace("tokens_per_execution: 0", "tokens_per_execution: -1"), encoding="utf-8")
    checked = cli("check", "--skills", pack)
    assert checked.code == 1
    assert "[bad-agent]" in checked.out + checked.err
    assert "2 skills loaded, 0 skipped, 0 repaired: 1 error" in checked.out + checked.err
