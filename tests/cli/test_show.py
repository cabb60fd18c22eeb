from pathlib import Path
from typing import Any


def test_the_json_is_the_skill_with_its_origin_tokens_and_block(cli: Any, small: Path) -> None:
    answer = cli("show", "coffee", "--skills", small, "--json").data
    skill = answer["skill"]
    assert (skill["id"], skill["description"]) == ("coffee", "Makes coffee.")
    assert (skill["tools"]["allowed"], skill["tools"]["forbidden"]) == (["kettle"], ["oven"])
    assert skill["origin"]["location"].endswith("coffee/SKILL.md")
    assert answer["tokens"].keys() == {"catalog", "outline", "instructions", "full"}
    assert answer["block"].startswith("=== Skill Activated: Coffee ===\n")
    assert len(skill["digest"]) == 64


def test_the_cost_is_what_weave_reports(cli: Any, examples: Path) -> None:
    shown = cli("show", "multilingual-greetings", "--skills", examples, "--json").data
    woven = cli("weave", "--skills", examples, "Say bonjour", "--json").data
    assert woven["tokens"]["injected"] == shown["tokens"]["full"] > shown["tokens"]["instructions"]
    assert woven["messages"][0]["content"] == shown["block"]


def test_people_read_cost_triggers_tools_relations_and_the_text(cli: Any, examples: Path) -> None:
    text = cli("show", "feature-build", "--skills", examples).out
    assert text.startswith("Feature Build 1.0.0\n")
    assert "for its catalog line" in text
    assert "triggers         keywords: " in text
    assert "tools            allowed: run_tests, apply_change" in text
    assert "                 forbidden: write, edit" in text
    assert "relation         feature-build requires feature-spec: " in text
    assert "\n=== Skill Activated: Feature Build ===\n" in text


def test_a_document_that_cannot_be_read_is_mentioned(cli: Any, tmp_path: Path, write: Any) -> None:
    folder = write(tmp_path, "tea", "Makes tea.").parent / "references"
    folder.mkdir()
    (folder / "big.md").write_bytes(b"x" * (1 << 21))
    done = cli("show", "tea", "--skills", tmp_path)
    assert done.code == 0
    assert "artifact 'references/big.md' of skill 'tea' cannot be read: it has 2 MiB" in done.err


def test_the_outline_lists_the_sections(cli: Any, examples: Path) -> None:
    text = cli("show", "invoice-checking", "--skills", examples, "--outline").out
    assert text.startswith("=== Skill Outline: Invoice Checking ===\n")
    assert "\n- 1: " in text


def test_one_section_is_shown_by_its_number(cli: Any, examples: Path) -> None:
    whole = cli("show", "invoice-checking", "--skills", examples, "--json").data["block"]
    shown = cli("show", "invoice-checking", "--skills", examples, "--section", "2", "--json").data["block"]
    assert shown in whole
    assert len(shown) < len(whole) / 2


def test_an_unknown_section_is_a_mistake_that_names_the_known_ones(cli: Any, examples: Path) -> None:
    done = cli("show", "invoice-checking", "--skills", examples, "--section", "99")
    assert done.code == 1
    assert "invoice-checking has no section '99'; it has 1 " in done.err
