from pathlib import Path
from typing import Any


def test_the_json_is_the_catalog_with_its_cost(cli: Any, small: Path) -> None:
    answer = cli("show", "--skills", small, "--json").data
    assert answer["text"].startswith("## Available Skills\n")
    assert (sorted(answer["shown"]), answer["total"]) == (["coffee", "tea"], 2)
    assert answer["tokens"] > 0


def test_people_read_the_block_and_its_cost(cli: Any, small: Path) -> None:
    text = cli("show", "--skills", small).out
    assert "- tea: Makes tea. (triggers: tea)\n" in text
    assert "2 skills; the catalog takes " in text


def test_what_does_not_fit_is_counted(cli: Any, small: Path) -> None:
    text = cli("show", "--skills", small, "--budget", 4).out
    assert text.startswith("0 of 2 skills; the catalog takes 0 tokens. The rest does not fit into a quarter of")


def test_what_is_not_active_has_no_line(cli: Any, small: Path, write: Any) -> None:
    write(small, "old", "An old one.", "x-skillweave: {status: disabled}")
    assert "- old:" not in cli("show", "--skills", small).out
