"""`skillweave demo NAME`: a pack's own conversation, with its entities and its tools."""

import json
from pathlib import Path
from typing import Any

import pytest

FIVE_LINES = """\
## Entity Context
Well: Mitchell Ranch 1H (API: 42-329-12345)
Status: active, Type: horizontal
Lease: Mitchell Ranch Lease
Field: Spraberry (Trend Area), District 08
Operator: Permian Basin Energy LLC (P-5: 683214)
"""
SPACING, FILING = "spacing-calculation", "rule37-filing-assembly"


@pytest.fixture(scope="module")
def played() -> dict[str, Any]:
    return {}


@pytest.fixture
def demo(cli: Any, played: dict[str, Any]) -> Any:
    """The demo as data, played once for all tests."""
    if not played:
        played.update(cli("demo", "texas-rrc", "--json").data)
    return played


@pytest.fixture
def first(demo: Any) -> list[Any]:
    """The turns."""
    steps: list[Any] = demo["steps"]
    return steps


def outcomes(step: Any) -> dict[str, str]:
    return {one["skill_id"]: one["outcome"] for one in step["injection"]["decisions"]}


def test_the_question_gives_nothing_and_the_catalog_shows_the_skills(first: Any, demo: Any) -> None:
    question = first[0]["injection"]
    assert (first[0]["role"], question["messages"]) == ("user", [])
    assert f"- {SPACING}: Calculate distances" in question["instructions"]
    assert demo["skills"] == 43


def test_what_the_assistant_selects_is_given_with_what_is_known_of_the_well(first: Any) -> None:
    assert (first[1]["role"], first[1]["message"]) == ("assistant", f"SKILL_SELECT:{SPACING}")
    text = first[1]["injection"]["messages"][0]["content"]
    assert text.startswith("=== Skill Activated: Spacing Calculation ===\n## Description\n")
    parts = [
        text.index(heading) for heading in ("## Steps", "## Requirements", "## Output Format", "## Entity Context")
    ]
    assert parts == sorted(parts)
    assert FIVE_LINES in text
    assert outcomes(first[1]) == {SPACING: "injected"}


def test_the_skill_allows_its_calculators_and_no_other_tool(first: Any) -> None:
    assert set(first[1]["injection"]["tools"]["allowed_tools"]) == {"well_spacing", "offset_distances", "project_point"}


def test_the_calculator_answers_with_the_distances_of_the_graph(first: Any) -> None:
    call = first[1]["calls"][0]
    assert (call["tool"], call["ruling"]) == ("well_spacing", "allow")
    text = json.dumps(call["answer"])
    assert "400.0" in text
    assert "390.0" in text


def test_a_filing_skill_shows_the_checkpoint_at_which_it_stops(first: Any) -> None:
    filing = next(step for step in first if step["message"] == f"SKILL_SELECT:{FILING}")
    assert outcomes(filing)[FILING] == "injected"
    assert [one["name"] for one in filing["injection"]["checkpoints"]] == ["pre_filing"]


def test_what_both_skills_show_of_the_well_is_sent_once(first: Any) -> None:
    texts = [message["content"] for step in first for message in step["injection"]["messages"]]
    assert len(texts) == 2
    assert "\n".join(texts).count("Well: Mitchell Ranch 1H (API: 42-329-12345)") == 1


def test_a_second_process_sends_nothing_twice(process: Any, tmp_path: Path) -> None:
    words = ("demo", "texas-rrc", "--ledger", str(tmp_path / "demo.db"), "--json")
    first, second = (json.loads(process(*words).out) for _ in range(2))
    assert (first["totals"]["given"] > 0, second["totals"]["given"]) == (True, 0)
    assert all(step["injection"]["messages"] == [] for step in second["steps"])
    assert [outcomes(step)[SPACING] for step in second["steps"]] == ["already-present"] * len(second["steps"])


def test_people_read_it_in_80_columns_and_are_told_how_to_go_on(cli: Any) -> None:
    done = cli("demo", "texas-rrc")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "=== Skill Activated: Spacing Calculation ===" in done.out
    assert all(line in done.out for line in FIVE_LINES.splitlines())
    assert "approval         pre_filing" in done.out
    assert done.out.rstrip().endswith("skillweave demo texas-rrc --ledger demo.db")


def test_it_says_the_same_every_time_and_writes_nothing(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("demo", "texas-rrc").out == cli("demo", "texas-rrc").out
    assert list(tmp_path.iterdir()) == []


def test_a_configured_ledger_is_not_written_to(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skillweave.toml").write_text('ledger = "team.db"\n', encoding="utf-8")
    assert cli("demo", "texas-rrc").code == 0
    assert not (tmp_path / "team.db").exists()


def test_a_name_that_is_none_lists_those_that_there_are(cli: Any) -> None:
    done = cli("demo", "texas")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("skillweave: no demo 'texas' is installed; choose from texas-rrc")


def test_the_demo_without_a_name_is_not_kept(cli: Any, tmp_path: Path) -> None:
    done = cli("demo", "--ledger", tmp_path / "demo.db")
    assert (done.code, done.out) == (1, "")
    assert "only the demo of a pack can be kept" in done.err
