"""`skillweave eval`: trigger tests, ranking, tokens, scripts of a graph, and fitting."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

TESTS = """
tests:
  - {query: Some tea please, expect: tea}
  - {query: Coffee for two, expect: [coffee], not: tea}
  - {query: What is 2+2?, expect: []}
"""
ROWS = [
    {"id": f"r{number}", "message": f"{drink} for {number} please", "gold": [drink.lower()], "kind": "plain"}
    for number, drink in enumerate(["Tea", "Coffee"] * 3)
] + [{"id": "r9", "message": "What is 2+2?", "gold": [], "kind": "none"}]
PLAIN = ("--resamples", "0")


@pytest.fixture
def tested(small: Path) -> Path:
    """The small skills with tests in the folder of one of them."""
    (small / "tea" / "drinks.triggers.yaml").write_text(TESTS, encoding="utf-8")
    return small


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_tests_among_the_skills_are_run_without_a_further_word(
    cli: Any, tested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tested.parent)
    done = cli("eval")
    assert (done.code, done.err) == (0, "")
    assert "drinks.triggers.yaml: 3 tests, 3 held, 0 failed; over 2 skills" in " ".join(done.out.split())
    assert done.out == cli("eval", "triggers").out == cli("eval", "--skills", tested).out


def test_a_test_that_fails_is_told_with_its_place(cli: Any, tested: Path) -> None:
    (tested / "tea" / "drinks.triggers.yaml").write_text("tests:\n- {query: Some tea please, expect: coffee}\n")
    done = cli("eval", "--skills", tested)
    assert done.code == 1
    said = " ".join(done.out.split())
    assert "drinks.triggers.yaml:2: Some tea please coffee is silent; given: tea" in said
    assert "competing coffee and tea: 1 query (drinks.triggers.yaml:2)" in said


def test_the_report_is_published_json(cli: Any, tested: Path) -> None:
    data = cli("eval", "--skills", tested, "--json").data
    assert (data["ok"], data["passed"], data["overall"]["recall"]) == (True, 3, 1.0)
    assert data["subject"]["data"] == "drinks.triggers.yaml"
    assert [one["skill_id"] for one in data["skills"]] == ["coffee", "tea"]


def test_a_broken_trigger_two_competing_skills_and_a_dead_description_are_found(
    cli: Any, tmp_path: Path, write: Callable[..., Path]
) -> None:
    triggers = "x-skillweave: {triggers: {keywords: [invoice], never: [invoice]}}"
    write(tmp_path, "invoices", "Checks supplier invoices against purchase orders.", triggers)
    for name in ("release", "rollout"):
        write(tmp_path, name, "Plans a software release with rollback steps.", "triggers: [release plan]")
    write(tmp_path, "stuff", "Helps with things.")
    (tmp_path / "all.triggers.yaml").write_text(
        "tests:\n- {query: A release plan for Friday, expect: release, not: rollout}\n", encoding="utf-8"
    )
    done = cli("eval", "--skills", tmp_path, "--json")
    assert done.code == 1
    found = {(one["code"], one["skill"], one["severity"]) for one in done.data["findings"]}
    assert found >= {
        ("broken-trigger", "invoices", "error"),
        ("competing-skills", "release", "warning"),
        ("unspecific-description", "stuff", "warning"),
    }


def test_skills_without_tests_are_looked_at_all_the_same(cli: Any, small: Path) -> None:
    done = cli("eval", "--skills", small)
    assert (done.code, "there are no tests" in done.err) == (0, True)


@pytest.mark.parametrize(("least", "code"), [("0.5", 0), ("1", 1)])
def test_a_threshold_decides_the_exit_code(cli: Any, tested: Path, least: str, code: int) -> None:
    (tested / "tea" / "drinks.triggers.yaml").write_text(f"{TESTS}  - {{query: Anything, expect: tea}}\n")
    done = cli("eval", "--skills", tested, "--min-recall", least)
    assert done.code == code
    assert ("not reached" in done.out) is bool(code)


def test_a_threshold_is_a_number_from_0_to_1(cli: Any, tested: Path) -> None:
    done = cli("eval", "--skills", tested, "--min-f1", "2")
    assert (done.code, "'2' is no number from 0 to 1" in done.err) == (2, True)


def test_named_tests_say_which_skills_they_are_about(cli: Any, tested: Path, tmp_path: Path) -> None:
    assert cli("eval", tested / "tea" / "drinks.triggers.yaml").code == 0
    assert cli("eval", tested).code == 0
    elsewhere = tmp_path / "mine.triggers.yaml"
    elsewhere.write_text(f"skills: skills\n{TESTS.strip()}\n")
    assert cli("eval", elsewhere).code == 0


def test_tests_of_different_skills_are_run_apart(cli: Any, tested: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.triggers.yaml"
    other.write_text("skills: elsewhere\ntests: [{query: x, expect: y}]\n")
    done = cli("eval", other, tested / "tea" / "drinks.triggers.yaml")
    assert (done.code, "are about different skills" in done.err) == (1, True)


def test_a_folder_without_tests_is_refused(cli: Any, small: Path) -> None:
    done = cli("eval", small)
    assert (done.code, "holds no trigger tests" in done.err) == (1, True)


def test_a_label_that_no_skill_has_is_a_note(cli: Any, tested: Path) -> None:
    (tested / "tea" / "drinks.triggers.yaml").write_text("tests:\n- {query: Some tea, expect: teaa}\n")
    assert "labels name skills that are not here, which counts as a miss: teaa" in cli("eval", "--skills", tested).err


def test_junit_and_html_are_written(cli: Any, tested: Path, tmp_path: Path) -> None:
    junit, html = tmp_path / "report.xml", tmp_path / "report.html"
    assert cli("eval", "--skills", tested, "--junit", junit, "--html", html).code == 0
    assert ET.parse(junit).getroot().find("testsuite").get("tests") == "3"  # type: ignore[union-attr]
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_id_that_is_required_to_be_given(cli: Any, tested: Path) -> None:
    assert cli("eval", "--skills", tested, "--require", "given").code == 0


def test_a_pack_with_a_graph_is_tested_at_a_cursor(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "desk.triggers.yaml"
    path.write_text("tests:\n- {query: Let me speak to a human, expect: human-handover, cursor: product-faq}\n")
    data = cli("eval", path, "--pack", "support-triage", "--json").data
    assert [(one["passed"], one["given"]) for one in data["results"]] == [(True, ["human-handover", "support-voice"])]


def test_ranking_says_what_its_figures_are_about(cli: Any, small: Path, labelled: Path) -> None:
    done = cli("eval", "ranking", labelled, "--skills", small, *PLAIN)
    said = " ".join(done.out.split())
    assert (
        "queries.jsonl, all rows: 7 queries, 6 with a right skill, 1 that no skill is right for; over 2 skills" in said
    )
    assert "right skill given 1.000" in said
    assert "matchers explicit, task, triggers, lexical" in said
    assert "kind plain 6 1.000" in said


def test_ranking_has_intervals_by_a_seed(cli: Any, small: Path, labelled: Path) -> None:
    data = cli("eval", "ranking", labelled, "--skills", small, "--resamples", 50, "--seed", 3, "--json").data
    assert (data["subject"]["seed"], data["subject"]["resamples"]) == (3, 50)
    recall = next(one for one in data["figures"] if one["name"] == "recall_at_1")
    assert recall["overall"] == {"value": 1.0, "low": 1.0, "high": 1.0}


def test_two_configurations_are_compared(cli: Any, small: Path, labelled: Path) -> None:
    options = "matcher=lexical max-skills=1 mention=true"
    data = cli("eval", "ranking", labelled, "--skills", small, *PLAIN, "--against", options, "--json").data
    assert data["against"]["matchers"] == ["mention", "lexical"]
    assert data["against"]["options"] == {"max-skills": 1}
    assert {one["name"] for one in data["differences"]} >= {"recall_at_1", "right_given", "tokens"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("matchers=lexical", "the options are catalog, matcher,"),
        ("lexical", "is no option=value"),
        ("mention=perhaps", "mention in --against is true or false"),
        ("max-skills=many", "is not a whole number"),
        ("matcher=none", "no matcher"),
    ],
)
def test_a_second_configuration_that_cannot_be_is_refused(
    cli: Any, small: Path, labelled: Path, options: str, told: str
) -> None:
    done = cli("eval", "ranking", labelled, "--skills", small, *PLAIN, "--against", options)
    assert done.code in (1, 2)
    assert told in done.err


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmark"
    folder.mkdir()
    corpus = [
        {"id": f"r:{name}", "name": name, "description": f"Makes {name}.", "body": "Brew."}
        for name in ("tea", "coffee")
    ]
    with gzip.open(folder / "corpus.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, corpus)))
    (folder / "test.jsonl").write_text(json.dumps({"query": "Make tea", "gold": ["r:tea"], "source": "s"}))
    (folder / "negatives.jsonl").write_text(json.dumps({"query": "No tea", "not_gold": ["r:tea"], "source": "s"}))
    return folder


def test_a_benchmark_is_ranked_over_its_own_skills(cli: Any, benchmark: Path) -> None:
    data = cli("eval", "ranking", benchmark, "--split", "test", *PLAIN, "--json").data
    assert (data["subject"]["split"], data["subject"]["skills"], data["subject"]["queries"]) == ("test", 2, 2)
    assert "forbidden_given" in {one["name"] for one in data["figures"]}
    done = cli("eval", "ranking", benchmark, "--split", "test", "--skills", benchmark)
    assert (done.code, "brings its skills along" in done.err) == (1, True)


def test_tokens_of_conversations_are_counted(cli: Any, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text('["Some tea please", "More tea"]\n["Coffee"]\n')
    done = cli("eval", "tokens", path, "--skills", small)
    assert "talks.jsonl: 2 conversations, 3 calls of the model; over 2 skills" in " ".join(done.out.split())
    data = cli("eval", "tokens", path, "--skills", small, "--json").data
    assert [one["name"] for one in data["methods"]][-1] == "skillweave"


def test_scripts_are_played_and_edges_counted(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "desk.script.yaml").write_text("- {user: I was charged twice and want my money back}\n")
    done = cli("eval", "graph", "support-triage", tmp_path, "--min-coverage", "0.9")
    assert done.code == 1
    assert "1 of 19 edges are taken: 5.3%, and 90.0% are wanted" in " ".join(done.out.split())
    assert cli("eval", "graph", "support-triage", tmp_path / "desk.script.yaml").code == 0
    data = cli("eval", "graph", "support-triage", tmp_path, "--json").data
    assert sum(edge["taken"] for edge in data["edges"]) == 1


def test_a_folder_without_scripts_is_refused(cli: Any, tmp_path: Path) -> None:
    done = cli("eval", "graph", "support-triage", tmp_path)
    assert (done.code, "holds no scripts" in done.err) == (1, True)


@pytest.fixture
def many(tmp_path: Path, write: Callable[..., Path]) -> tuple[Path, Path]:
    """Skills that share words, so that the order is not always right, and queries about them."""
    words = ["leaf", "pot", "cup", "milk", "bean", "cake", "bread", "soup"]
    asks = ("How do I prepare {0}?", "Serve {0} today", "{0} beside {1}", "daily {1} with {0} please")
    pairs = list(zip(words, [*words[1:], words[0]], strict=True))
    for word, near in pairs:
        write(tmp_path / "many", f"make-{word}", f"Prepares {word} and serves {word} beside {near} daily.")
    rows = [{"message": ask.format(*pair), "gold": [f"make-{pair[0]}"]} for pair in pairs for ask in asks]
    others = ("What is 2+2?", "Serve daily", "Who won the match today?")
    rows += [{"message": message, "gold": []} for message in others]
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "many", path


def test_what_is_fitted_is_written_and_read(cli: Any, many: tuple[Path, Path], tmp_path: Path) -> None:
    skills, queries = many
    output = tmp_path / "fitted.json"
    done = cli("eval", "fit", queries, "--skills", skills, "--output", output, "--resamples", "20")
    assert (done.code, done.err) == (0, "")
    assert f"written {output}, which --fitted reads" in " ".join(done.out.split())
    stored = json.loads(output.read_text())
    assert (stored["embedder"], stored["queries"], stored["folds"]) == (None, 35, 5)
    plain = cli("match", "--skills", skills, "How do I prepare soup?", "--json").data
    fitted = cli("match", "--skills", skills, "--fitted", output, "How do I prepare soup?", "--json").data
    assert plain != fitted
    ranked = cli("eval", "ranking", queries, "--skills", skills, "--fitted", output, *PLAIN, "--json").data
    assert ranked["configuration"]["options"] == {"fitted": str(output)}


def test_nothing_is_fitted_twice(cli: Any, many: tuple[Path, Path], tmp_path: Path) -> None:
    skills, queries = many
    done = cli("eval", "fit", queries, "--skills", skills, "--fitted", tmp_path / "x.json")
    assert (done.code, "leave --fitted out" in done.err) == (1, True)


@pytest.mark.parametrize(("text", "told"), [(None, "does not exist"), ("{", "fit anew"), ("{}", "fit anew")])
def test_a_fitted_file_that_is_none_is_refused(
    cli: Any, small: Path, tmp_path: Path, text: str | None, told: str
) -> None:
    path = tmp_path / "fitted.json"
    if text is not None:
        path.write_text(text)
    done = cli("match", "--skills", small, "--fitted", path, "tea")
    assert (done.code, told in done.err) == (1, True)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
@pytest.mark.parametrize("command", ["ranking", "tokens"])
def test_a_device_is_refused_by_name(cli: Any, small: Path, command: str) -> None:
    done = cli("eval", command, "/dev/zero", "--skills", small)
    assert (done.code, done.out) == (1, "")
    assert "/dev/zero is no file" in done.err
