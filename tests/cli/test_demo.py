from typing import Any

import pytest


@pytest.fixture
def demo(cli: Any) -> Any:
    return cli("demo", "--json").data


def test_each_step_shows_one_promise(demo: Any) -> None:
    outcomes = [
        [decision["outcome"] for decision in step["injection"]["decisions"] if decision["stage"] == "disclose"]
        for step in demo["steps"]
    ]
    assert outcomes == [["injected"], ["already-present"], ["already-present"], ["injected"], ["injected"]]
    assert [step["event"] for step in demo["steps"]] == ["nothing", "nothing", "nothing", "compaction", "eviction"]


def test_nothing_is_sent_twice_and_the_unrelated_question_adds_nothing(demo: Any) -> None:
    assert demo["steps"][1]["injection"]["messages"] == []
    unrelated = demo["steps"][2]["injection"]
    assert (unrelated["messages"], unrelated["tail"]) == ([], "")


def test_what_comes_back_is_the_text_that_was_there(demo: Any) -> None:
    first, *_, compacted, evicted = ([m["content"] for m in step["injection"]["messages"]] for step in demo["steps"])
    assert first == compacted == evicted


def test_the_totals_add_up_over_the_calls(demo: Any) -> None:
    totals = demo["totals"]
    assert totals["calls"] == len(demo["steps"])
    assert totals["tokens"] == sum(step["tokens_in_call"] for step in demo["steps"])
    assert totals["everything"] == totals["calls"] * demo["steps"][0]["injection"]["tokens"]["everything"]
    assert totals["saved_percent"] > 80


def test_a_call_with_both_copies_of_an_evicted_text_counts_both(demo: Any) -> None:
    injected = demo["steps"][4]["injection"]["tokens"]["injected"]
    assert demo["steps"][4]["tokens_in_call"] == 2 * injected + demo["steps"][4]["injection"]["tokens"]["catalog"]


def test_people_read_it_in_80_columns_and_are_told_how_to_go_on(cli: Any) -> None:
    done = cli("demo")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "=== Skill Activated: Multilingual Greetings ===" in done.out
    assert "skillweave weave --skills DIR" in done.out


def test_it_says_the_same_every_time(cli: Any) -> None:
    assert cli("demo").out == cli("demo").out


def test_nothing_is_written(cli: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("demo").code == 0
    assert list(tmp_path.iterdir()) == []
