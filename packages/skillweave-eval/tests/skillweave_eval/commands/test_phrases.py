"""`skillweave phrases`, at a real server in both wire forms."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillweave_testing.hosts import Says, Script, Sent
from tests.recording.server import RecordingServer

FILE = "skillweave.phrases.jsonl"
FORMS = ["openai", "local-messages"]


class Writer(Script):
    """A model that answers with what `answer` makes of the text of a skill; counts how many ask at once."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: Callable[[str], str] = lambda text: json.dumps(
            [f"someone wants {n} of {hash(text) % 97}" for n in range(5)]
        )
        self.most, self._now, self._lock, self.gate = 0, 0, threading.Lock(), threading.Barrier(1)

    def reply(self, sent: Sent) -> Says:
        with self._lock:
            self.sent.append(sent)
            self._now += 1
            self.most = max(self.most, self._now)
        content = json.loads(sent.messages[-1])["content"]
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        self.gate.wait(timeout=20)
        with self._lock:
            self._now -= 1
        return Says(self.answer(text))


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def server(writer: Writer) -> Iterator[RecordingServer]:
    with RecordingServer(writer) as server:
        yield server


@pytest.fixture
def write_phrases(
    cli: Any, small: Path, server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecretkey0")
    monkeypatch.setenv("LOCAL_API_KEY", "ak-verysecretkey0")

    def run(*more: object, form: str = "openai") -> Any:
        options = ("--model", f"{form}:m1", "--base-url", server.openai, *more)
        return cli("phrases", "write", "--skills", small, *options)

    return run


def lines(small: Path) -> dict[str, Any]:
    return {row["id"]: row for row in map(json.loads, (small / FILE).read_text(encoding="utf-8").splitlines())}


@pytest.mark.parametrize("form", FORMS)
def test_phrases_are_written_in_both_forms_and_loaded_with_the_skills(
    cli: Any, small: Path, write_phrases: Callable[..., Any], server: RecordingServer, form: str
) -> None:
    done = write_phrases(form=form)
    assert (done.code, done.err) == (0, "")
    assert not server.refusals
    written = lines(small)
    assert {len(row["phrases"]) for row in written.values()} == {5}
    assert {row["model"] for row in written.values()} == {f"{form}:m1"}
    shown = cli("show", "tea", "--skills", small, "--json").data
    assert shown["skill"]["phrases"] == written["tea"]["phrases"]


def test_what_is_fresh_is_not_asked_for_again_and_what_changed_is(
    small: Path, write_phrases: Callable[..., Any], writer: Writer
) -> None:
    write_phrases()
    first = len(writer.sent)
    assert write_phrases().code == 0
    assert len(writer.sent) == first
    file = small / "tea" / "SKILL.md"
    file.write_text(
        file.read_text(encoding="utf-8").replace("description: ", "description: Now otherwise. "), encoding="utf-8"
    )
    write_phrases()
    assert len(writer.sent) == first + 1
    assert len((small / FILE).read_text(encoding="utf-8").splitlines()) == first


def test_a_run_that_ended_in_the_middle_of_a_line_goes_on_from_there(
    small: Path, write_phrases: Callable[..., Any], writer: Writer
) -> None:
    write_phrases()
    whole = lines(small)
    text = (small / FILE).read_text(encoding="utf-8")
    (small / FILE).write_text(text[: len(text) - 30], encoding="utf-8")
    writer.sent.clear()
    assert write_phrases().code == 0
    assert len(writer.sent) == 1
    assert lines(small).keys() == whole.keys()


def test_a_dry_run_says_what_it_takes_and_sends_nothing(
    small: Path, write_phrases: Callable[..., Any], writer: Writer
) -> None:
    data = write_phrases("--dry-run", "--json", "--price-out", "5").data
    assert data["calls"] == data["skills"] > 0
    assert data["sent"] > 100
    assert data["cost_at_most"] > 0
    assert (writer.sent, (small / FILE).exists()) == ([], False)


def test_nothing_is_asked_beyond_the_limit_and_what_is_done_stays(
    small: Path, write_phrases: Callable[..., Any], writer: Writer
) -> None:
    dry = write_phrases("--dry-run", "--json").data
    enough_for_one = dry["sent"] // dry["calls"] + 1_250
    done = write_phrases("--limit-tokens", enough_for_one, "--concurrency", "1")
    assert done.code == 1
    assert "limit of tokens" in " ".join(done.out.split())
    assert len(writer.sent) == len(lines(small)) >= 1


def test_several_skills_are_asked_about_at_once(write_phrases: Callable[..., Any], writer: Writer) -> None:
    writer.gate = threading.Barrier(2)
    write_phrases("--concurrency", "2")
    assert writer.most == 2


@pytest.mark.parametrize("answer", ["", "I would rather not.", '["SKILL_SELECT:tea now please"]'])
def test_an_answer_of_no_use_is_told_and_writes_nothing(
    small: Path, write_phrases: Callable[..., Any], writer: Writer, answer: str
) -> None:
    writer.answer = lambda _: answer
    done = write_phrases()
    assert done.code == 1
    assert "no phrase that could be kept" in " ".join(done.out.split())
    assert not (small / FILE).exists()


def test_a_server_that_fails_costs_only_the_skill_and_is_told(
    write_phrases: Callable[..., Any], server: RecordingServer, small: Path
) -> None:
    server.failures += [(400, {})]
    done = write_phrases("--concurrency", "1", "--json")
    assert done.code == 1
    assert len(done.data["failed"]) == 1
    assert len(lines(small)) == done.data["written"] >= 1


def test_missing_stale_and_unknown_phrases_are_told(cli: Any, small: Path, write_phrases: Callable[..., Any]) -> None:
    assert set(cli("phrases", "check", "--skills", small, "--json").data["missing"]) >= {"tea"}
    write_phrases()
    assert cli("phrases", "check", "--skills", small).code == 0
    kept = lines(small)
    rows = [kept["tea"] | {"digest": "0" * 64}, kept["tea"] | {"id": "gone"}]
    (small / FILE).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    data = cli("phrases", "check", "--skills", small, "--json").data
    assert (data["stale"], data["unknown"]) == (["tea"], ["gone"])
    assert "tea" not in data["missing"]


def test_a_phrase_that_another_skill_would_be_given_for_is_left_out_and_named(
    cli: Any, small: Path, write: Any, write_phrases: Callable[..., Any], writer: Writer
) -> None:
    folder = small / "kettle-descaling"
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        "---\nname: kettle-descaling\ndescription: Removes limescale from a kettle with vinegar or citric acid.\n---\n"
        "Fill the kettle with vinegar and water, wait, rinse off the limescale.\n",
        encoding="utf-8",
    )
    stolen = "remove the limescale from my kettle with vinegar"
    writer.answer = lambda text: json.dumps([stolen, "afternoon visitors expect a cup"])
    data = write_phrases("--json").data
    assert "kettle-descaling" in data["stolen"]["tea"][0]
    assert lines(small)["tea"]["phrases"] == ["afternoon visitors expect a cup"]


def test_figures_are_compared_with_those_without_phrases(cli: Any, small: Path, tmp_path: Path) -> None:
    row = {"id": "tea", "phrases": ["afternoon visitors expect a cup", "a guest is thirsty"]}
    (small / FILE).write_text(json.dumps(row), encoding="utf-8")
    queries = tmp_path / "queries.jsonl"
    asked = {"query": "thirsty visitors this afternoon, give them a cup", "gold": ["tea"]}
    queries.write_text(json.dumps(asked), encoding="utf-8")
    options = ("--skills", small, "--against", "without-phrases", "--resamples", "20")
    data = cli("eval", "ranking", queries, *options, "--json").data
    assert data["against"]["options"] == {"phrases": "left out"}
    at_first = next(one for one in data["differences"] if one["name"] == "recall_at_1")
    assert (at_first["first"], at_first["second"]) == (1.0, 0.0)
