from pathlib import Path
from typing import Any


def test_the_json_has_the_block_and_what_each_skill_costs(cli: Any, small: Path) -> None:
    answer = cli("catalog", "--skills", small, "--json").data
    assert answer.keys() == {"catalog", "tokens", "shown", "total", "skills"}
    assert answer["catalog"].startswith("## Available Skills\n")
    assert (answer["shown"], answer["total"]) == (2, 2)
    assert answer["skills"][1] | {"tokens": None} == {
        "skill_id": "tea",
        "name": "Tea",
        "description": "Makes tea.",
        "status": "active",
        "closed_to_model": False,
        "in_catalog": True,
        "tokens": None,
    }
    assert 0 < answer["skills"][1]["tokens"]["catalog"] < answer["skills"][1]["tokens"]["instructions"]


def test_people_read_the_block_and_its_cost(cli: Any, small: Path) -> None:
    text = cli("catalog", "--skills", small).out
    assert "- tea: Makes tea. (triggers: tea)\n" in text
    assert "2 skills; the catalog takes " in text


def test_what_does_not_fit_is_counted(cli: Any, small: Path) -> None:
    text = cli("catalog", "--skills", small, "--budget", 4).out
    assert text.startswith("0 of 2 skills; the catalog takes 0 tokens. The rest does not fit into a quarter of")


def test_all_lists_also_what_is_not_active(cli: Any, small: Path, write: Any) -> None:
    write(small, "old", "An old one.", "x-skillweave: {status: disabled}")
    text = cli("catalog", "--skills", small, "--all").out
    assert "old" in text
    assert "disabled" in text
    assert "- old:" not in cli("catalog", "--skills", small).out
