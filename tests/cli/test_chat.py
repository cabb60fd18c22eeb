"""`skillweave chat`: a scripted model in the real agent, then the command with a provider's package of the tests."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from examples.scripted.langchain import ScriptedChatModel
from skillweave import StoreUnavailable
from skillweave.adapters.approval import question
from skillweave.cli.arguments.ledger import Kept
from skillweave.cli.arguments.skills import sources_of
from skillweave.cli.chat import answers, ask_person, converse, opened_talk, summary
from skillweave.cli.chat_agent import model_failure, open_model, without_own_keys
from skillweave.cli.failure import Mistake
from skillweave.cli.options import Selecting
from skillweave.cli.output.turn import Told
from skillweave.turns import PendingCheckpoint
from skillweave_testing.hosts import Says, Script, tool_call
from tests.cli.conftest import Ran, write_skill
from tests.cli.harbour import write_harbour

SECRET = "sk-test-0123456789abcdef"
GATED = "triggers: [paper]\nx-skillweave: {checkpoints: [{name: review, asks: Is it sound?}]}"


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def talking(small: Path, script: Script, tmp_path: Path) -> Callable[..., Any]:
    """A conversation with the script over two small skills, or over others."""

    def opening(skills: Path = small, ledger: str | None = None, catalog: str = "always", **options: Any) -> Any:
        settings = Selecting(catalog=catalog, max_skills=3, budget=8000)  # type: ignore[arg-type]
        kept = Kept(ledger, "c1")
        return opened_talk(
            ScriptedChatModel(script=script),
            "ollama:x",
            kept,
            sources_of([str(skills)], strict=False),
            settings,
            **options,
        )

    return opening


@pytest.fixture
def gated(tmp_path: Path) -> Path:
    write_skill(tmp_path / "gated", "paper", "Writes papers.", GATED, "Be honest.")
    return tmp_path / "gated"


def test_the_reply_is_printed_and_what_was_given_beside_it(talking: Any, script: Script, capsys: Any) -> None:
    script.then("Boil it.")
    with talking() as talk:
        converse(talk, ["Some tea"])
    out, err = capsys.readouterr()
    assert out == "Boil it.\n"
    assert err.startswith("given tea (triggers: keyword 'tea'; given in full), ")
    assert err.endswith(" tokens\n")


def test_the_reply_comes_piece_by_piece(talking: Any, script: Script) -> None:
    script.then("Boil it well.")
    pieces: list[str] = []
    with talking() as talk:
        told = talk.say("Some tea", lambda _: {}, pieces.append)
    assert pieces == ["Boil", " it", " well."]
    assert told.reply == "Boil it well."


def test_quiet_says_nothing_beside_the_reply(talking: Any, capsys: Any) -> None:
    with talking() as talk:
        converse(talk, ["Some tea"], quiet=True)
    assert capsys.readouterr() == ("All right.\n", "")


def test_a_skill_of_an_earlier_message_is_in_the_context(talking: Any, capsys: Any) -> None:
    with talking() as talk:
        converse(talk, ["Some tea", "Go on"])
    assert capsys.readouterr().err.splitlines()[1] == "in the context tea"


def test_a_message_without_a_skill_says_so(talking: Any, capsys: Any) -> None:
    with talking() as talk:
        converse(talk, ["What is 2+2?"])
    assert capsys.readouterr().err == "no skill\n"


def test_what_the_end_of_the_call_says_is_shown_with_its_tokens(talking: Any, script: Script, capsys: Any) -> None:
    with talking(catalog="fallback") as talk:
        converse(talk, ["What is 2+2?", "Some tea"])
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"no skill; said which skills there are at the end of the call, \d+ tokens", first)
    assert "at the end of the call" not in second
    assert "skills are available" in script.sent[0].messages[-1]


def test_skills_that_were_only_offered_are_named(talking: Any, capsys: Any) -> None:
    told = Told("Hi", "Hello", (), (), offered=("tea", "coffee"), tail_tokens=84)
    assert summary(told) == "no skill; offered tea, coffee at the end of the call, 84 tokens"


def test_as_data_the_end_of_the_call_has_its_tokens(talking: Any) -> None:
    (line,) = (json.loads(one.as_line()) for one in answers(talking(catalog="fallback"), ["What is 2+2?"]))
    assert line["offered"] == []
    assert line["tail_tokens"] > 0


def test_the_model_is_sent_the_system_prompt_the_catalog_and_the_skill(talking: Any, script: Script) -> None:
    with talking(system="You are a cook.") as talk:
        converse(talk, ["Some tea"])
    assert script.last.system.startswith("You are a cook.")
    assert script.last.times("Makes coffee.") == 1
    assert script.last.times_in_messages("Boil water.") == 1


def test_in_call_placement_the_skill_is_in_the_system_prompt(talking: Any, script: Script) -> None:
    with talking(placement="call") as talk:
        converse(talk, ["Some tea", "Go on"])
    assert [sent.system.count("Boil water.") for sent in script.sent] == [1, 1]


@pytest.mark.parametrize("graph", ["harbour.json", "sqlite:///harbour.db"])
def test_an_entity_whose_id_the_user_writes_is_told_of_once(
    talking: Any, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Any, graph: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_harbour(tmp_path)
    cli("entities", "load", "harbour.json", "--skills", "harbour.yaml", "--entities", "sqlite:///harbour.db")
    with talking(skills=tmp_path / "harbour.yaml", entities=graph) as talk:
        converse(talk, ["Which berth does IMO 9321483 have?", "And how deep is that berth?"])
    assert [sent.times_in_messages("Ship: Aurora (IMO 9321483)") for sent in script.sent] == [1, 1]


def test_a_blocked_call_is_shown(talking: Any, script: Script, capsys: Any) -> None:
    script.then("Grind.", Says(asks=(tool_call("oven", text="x"),)), "Not with the oven.")
    with talking() as talk:
        converse(talk, ["Some coffee", "Use the oven"])
    assert "blocked oven (TOOL_FORBIDDEN)" in capsys.readouterr().err


def test_the_model_loads_a_skill_by_itself(talking: Any, script: Script, capsys: Any) -> None:
    script.then(Says("I look it up.", (tool_call("read_skill", skill_id="tea"),)), "Boil it.")
    with talking() as talk:
        converse(talk, ["Something hot, please"])
    out, err = capsys.readouterr()
    assert out == "I look it up.\nBoil it.\n"
    assert "given tea (explicit: read 'tea'; given in full)" in err


def test_as_data_each_message_is_an_object(talking: Any, script: Script) -> None:
    script.then("Boil it.", "More.")
    first, second = (json.loads(one.as_line()) for one in answers(talking(), ["Some tea", "Go on"]))
    assert (first["message"], first["reply"], first["skills"]) == ("Some tea", "Boil it.", ["tea"])
    assert first["tokens"] == sum(one["tokens"] for one in first["decisions"]) > 0
    assert first["decisions"][0]["outcome"] == "injected"
    assert (second["skills"], second["tokens"], second["blocked"]) == ([], 0, [])


def test_as_data_a_blocked_call_is_told_with_its_code(talking: Any, script: Script) -> None:
    script.then("Grind.", Says(asks=(tool_call("oven", text="x"),)), "No.")
    *_, last = (json.loads(one.as_line()) for one in answers(talking(), ["Some coffee", "Use the oven"]))
    assert [(one["tool"], one["code"]) for one in last["blocked"]] == [("oven", "TOOL_FORBIDDEN")]


def test_a_reply_cannot_control_the_terminal(talking: Any, script: Script, capsys: Any) -> None:
    script.then("\x1b[2Jgone")
    with talking() as talk:
        converse(talk, ["Hello"])
    assert capsys.readouterr().out == "\\x1b[2Jgone\n"


def test_texts_that_went_with_an_earlier_process_are_given_again(talking: Any, script: Script, tmp_path: Path) -> None:
    for text in ("Some tea", "Go on"):
        with talking(ledger=str(tmp_path / "state.db")) as talk:
            converse(talk, [text])
    assert [sent.times_in_messages("Boil water.") for sent in script.sent] == [1, 1]


def test_the_same_words_in_a_later_process_say_what_was_given_too(talking: Any, tmp_path: Path, capsys: Any) -> None:
    for _ in range(2):
        with talking(ledger=str(tmp_path / "state.db")) as talk:
            converse(talk, ["Some tea"])
    first, second = capsys.readouterr().err.splitlines()
    assert first == second
    assert first.startswith("given tea ")


def test_a_file_that_is_no_ledger_is_told_before_anything_is_said(talking: Any, script: Script, tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("no database at all, but words", encoding="utf-8")
    with (
        pytest.raises(StoreUnavailable, match="not a readable SQLite file"),
        talking(ledger=str(tmp_path / "state.db")),
    ):
        raise AssertionError("it opened")
    assert not script.sent


def test_a_ledger_that_stops_answering_is_told_and_so_is_the_skill(
    talking: Any, script: Script, tmp_path: Path, capsys: Any
) -> None:
    ledger = tmp_path / "state.db"
    with talking(ledger=str(ledger)) as talk:
        for one in tmp_path.glob("state.db*"):
            one.write_bytes(b"no database " * 1000)
        converse(talk, ["Some tea"])
    seen = capsys.readouterr().err
    assert script.last.times_in_messages("Boil water.") == 1
    assert seen.startswith("in the context tea\nskillweave: the ledger does not answer, so nothing of this is kept")


def test_skills_that_are_left_out_are_told_first(talking: Any, small: Path, capsys: Any) -> None:
    write_skill(small, "broken", "[", "", "")
    with talking():
        assert "1 skill is left out because of errors; `skillweave check`" in capsys.readouterr().err


def test_a_failure_in_the_middle_of_a_reply_begins_a_line_of_its_own(talking: Any, script: Script, capsys: Any) -> None:
    script.then(Says("Half", (tool_call("read_skill", skill_id="tea"),)), Says(fails=ConnectionError("gone")))
    with talking() as talk, pytest.raises(Mistake):
        converse(talk, ["Hello"])
    assert capsys.readouterr().out == "Half\n"


def test_a_model_that_fails_ends_the_command_with_one_line(talking: Any, script: Script) -> None:
    script.then(Says(fails=ConnectionError("no route to host")))
    with talking() as talk, pytest.raises(Mistake, match=r"^ollama does not answer \(ConnectionError\); check the net"):
        converse(talk, ["Hello"])


def test_without_a_terminal_a_checkpoint_ends_the_command_and_names_the_remedy(talking: Any, gated: Path) -> None:
    with talking(skills=gated) as talk, pytest.raises(Mistake, match="skillweave ledger approve c1 paper review"):
        converse(talk, ["The paper"])


class Failed(Exception):
    """As the providers' packages raise them."""

    def __init__(self, said: str, status_code: int | None = None) -> None:
        super().__init__(said)
        self.status_code = status_code


class RateLimitError(Failed):
    pass


class APITimeoutError(Failed):
    pass


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            Failed(f"Incorrect API key provided: {SECRET}", 401),
            "set OPENAI_API_KEY, or what its package reads",
        ),
        (
            Failed("Did not find openai_api_key, please add it"),
            "set OPENAI_API_KEY, or what its package reads",
        ),
        (Failed("The model `gpt-x` does not exist", 404), "openai knows no model 'gpt-x'; check its name"),
        (RateLimitError("quota", 429), "wait, then try again"),
        (APITimeoutError("Request timed out."), r"openai does not answer \(APITimeoutError\); check the network"),
        (Failed(f"bad request with {SECRET}\nmore", 400), r"failed with Failed: bad request with \*\*\*; try again"),
        (ValueError(), "failed with ValueError: it does not say why"),
    ],
)
def test_what_went_wrong_with_a_model_is_one_line_with_a_remedy(error: Exception, line: str) -> None:
    with pytest.raises(Mistake, match=line) as raised:
        raise model_failure(error, "openai:gpt-x")
    assert SECRET not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_value_of_a_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", "very secret words")
    assert without_own_keys("it was very secret words, and Bearer abc") == "it was ***, and Bearer ***"


@pytest.mark.parametrize("named", ["", "gpt-5", ":gpt-5", "openai:", "openai: "])
def test_a_model_is_named_with_its_provider(named: str) -> None:
    with pytest.raises(Mistake, match="give it as provider:name, such as anthropic:"):
        open_model(named)


def test_an_unknown_provider_is_named() -> None:
    with pytest.raises(Mistake, match="Unsupported provider='acme'"):
        open_model("acme:large")


@pytest.mark.parametrize(("named", "package"), [("groq:llama", "langchain-groq"), ("google-vertexai:g", "langchain-g")])
def test_a_missing_provider_package_is_named_with_its_command(named: str, package: str) -> None:
    with pytest.raises(Mistake, match=f"need a package: pip install {package}"):
        open_model(named)


def test_without_langchain_the_extra_is_named(cli: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain.agents", None)
    monkeypatch.delitem(sys.modules, "skillweave.cli.chat_agent", raising=False)
    done = cli("chat", "--model", "openai:gpt-5", "--skills", small)
    assert (done.code, done.out) == (1, "")
    assert done.err.endswith("which is not installed: pip install 'skillweave[langchain]'\n")


@pytest.fixture
def provider(tmp_path: Path) -> dict[str, str]:
    """The environment with a package of a provider, whose models repeat the number of messages that they were sent."""
    package = tmp_path / "site" / "langchain_ollama"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import os\n"
        "from examples.scripted.langchain import ScriptedChatModel\n"
        "from skillweave_testing.hosts import Script\n"
        "def ChatOllama(model):\n"
        "    if model == 'keyless':\n"
        "        raise ValueError('Did not find ollama_api_key, please set it')\n"
        "    return ScriptedChatModel(script=Script(otherwise=f'I am {model}.'))\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": str(package.parent)}


def chatting(process: Any, provider: dict[str, str], *words: object, stdin: bytes = b"") -> Ran:
    ran: Ran = process("chat", "--model", "ollama:tiny", *words, stdin=stdin, **provider)
    return ran


@pytest.mark.soak
def test_a_reader_that_goes_away_ends_it_quietly(provider: dict[str, str], small: Path) -> None:
    command = [sys.executable, "-m", "skillweave", "chat", "--model", "ollama:tiny", "--skills", str(small), "-m", "Hi"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody_reads:
        done = subprocess.run(
            command, stdout=nobody_reads, stderr=subprocess.PIPE, env={**os.environ, **provider}, check=False
        )
    assert (done.returncode, done.stderr) == (141, b"")


def test_without_a_model_the_option_is_named(cli: Any, small: Path) -> None:
    done = cli("chat", "--skills", small)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("skillweave: no model is named; add --model provider:name")


def test_lines_of_standard_input_are_said_one_by_one(process: Any, provider: dict[str, str], small: Path) -> None:
    done = chatting(process, provider, "--skills", small, "--json", stdin=b"Some tea\n\nGo on\n")
    first, second = map(json.loads, done.out.splitlines())
    assert (done.code, done.err) == (0, "")
    assert (first["reply"], first["skills"]) == ("I am tiny.", ["tea"])
    assert (second["message"], second["skills"]) == ("Go on", [])


def test_a_conversation_is_kept_and_explained_by_why(
    process: Any, provider: dict[str, str], small: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "state.db"
    done = chatting(process, provider, "--skills", small, "--ledger", ledger, "--conversation", "c1", "-m", "Some tea")
    assert (done.code, done.out) == (0, "I am tiny.\n")
    assert "injected         tea" in process("why", "c1", "--ledger", ledger).out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--model", "ollama:keyless"), "set OLLAMA_API_KEY, or what"),
        (("--model", "groq:llama"), "pip install langchain-groq"),
        (("-m", " "), "a --message is empty"),
    ],
)
def test_a_mistake_is_one_line(
    process: Any, provider: dict[str, str], small: Path, words: tuple[str, ...], line: str
) -> None:
    done = chatting(process, provider, "--skills", small, *words)
    assert (done.code, done.out) == (1, "")
    assert len(done.err.splitlines()) == 1
    assert line in done.err


class Terminal:
    """The command at a terminal of its own."""

    def __init__(self, environment: dict[str, str], *words: object) -> None:
        self.end, other = pty.openpty()
        self.settings = termios.tcgetattr(other)
        plain = {**os.environ, **environment, "NO_COLOR": "1", "TERM": "dumb"}
        command = [sys.executable, "-m", "skillweave", "chat", "--model", "ollama:tiny", *map(str, words)]
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=plain)
        os.close(other)

    def until(self, text: str) -> str:
        """What is printed up to that text."""
        seen = ""
        while text not in seen:
            seen += os.read(self.end, 4096).decode(errors="replace")
        return seen

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def interrupt(self) -> None:
        """Until it ends: a signal that comes just before the line editor waits is seen at the next one."""
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(1)


@pytest.fixture
def terminal(provider: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def start(*words: object) -> Terminal:
        started.append(Terminal(provider, *words))
        started[-1].until("> ")
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        os.close(one.end)


def test_at_a_prompt_one_talks_asks_why_and_ends(terminal: Any, small: Path) -> None:
    at = terminal("--skills", small)
    at.type("Some tea\n")
    seen = at.until("> ")
    assert "I am tiny." in seen
    assert "given tea" in seen
    at.type("/why\n")
    assert "injected" in at.until("> ")
    at.type("/skills\n")
    assert "Makes coffee." in at.until("> ")
    at.type("/help\n")
    assert "/help is no command" in at.until("> ")
    at.type("/quit\n")
    assert at.process.wait(60) == 0


@pytest.mark.soak
def test_the_end_of_input_ends_it(terminal: Any, small: Path) -> None:
    at = terminal("--skills", small)
    at.type("\x04")
    assert at.process.wait(60) == 0


def test_an_interruption_ends_it_with_one_line_and_leaves_the_terminal_as_it_was(terminal: Any, small: Path) -> None:
    at = terminal("--skills", small)
    at.interrupt()
    assert "skillweave: interrupted" in at.until("interrupted")
    assert at.process.returncode == 130
    assert termios.tcgetattr(at.end) == at.settings


def test_at_a_checkpoint_the_person_is_asked_and_the_verdict_kept(
    terminal: Any, gated: Path, process: Any, tmp_path: Path
) -> None:
    ledger = tmp_path / "state.db"
    at = terminal("--skills", gated, "--ledger", ledger, "--conversation", "c1")
    at.type("The paper\n")
    assert "review of paper: Is it sound?" in at.until("[a/r] ")
    at.type("absolutely not\n")
    at.until("[a/r] ")
    at.type("a\n")
    at.until("your name")
    at.type("Ann Lee\n")
    assert "I am tiny." in at.until("> ")
    shown = process("ledger", "show", "c1", "--ledger", ledger, "--json").data
    assert [(one["checkpoint"], one["verdict"], one["by"]) for one in shown["state"]["approvals"]] == [
        ("review", "approved", "Ann Lee")
    ]


@pytest.mark.soak
def test_a_skill_that_is_rejected_was_not_given(terminal: Any, gated: Path) -> None:
    at = terminal("--skills", gated)
    at.type("The paper\n")
    at.until("[a/r] ")
    at.type("r\n")
    at.until("your name")
    at.type("Ann Lee\n")
    assert "no skill" in at.until("\n> ")


@pytest.mark.soak
def test_at_a_prompt_a_line_that_is_no_text_is_told_and_not_said(terminal: Any, small: Path) -> None:
    at = terminal("--skills", small)
    os.write(at.end, b"\xff\xfe\n")
    seen = at.until("\n> ")
    assert "the line is no UTF-8 text (byte 1)" in seen
    assert "I am tiny." not in seen


@pytest.mark.soak
def test_at_a_prompt_a_message_that_fails_does_not_end_the_conversation(terminal: Any, gated: Path) -> None:
    at = terminal("--skills", gated)
    at.type("The paper\n")
    at.until("[a/r] ")
    at.type("\x04")
    assert "nobody answered" in at.until("> ")
    at.type("Hello\n")
    assert "[a/r]" in at.until("[a/r] ")


def test_a_step_in_the_skill_graph_is_told_beside_the_reply(talking: Any, script: Script, capsys: Any) -> None:
    from skillweave.graph import SkillGraph

    data = {
        "entries": [{"skill": "tea"}],
        "routes": [{"from": "tea", "to": "coffee", "when": {"keywords": ["coffee"]}}],
    }
    graph = SkillGraph.from_dict(data, check="off")
    script.then("Boil it.")
    script.then("Grind it.")
    script.then("Yes.")
    with talking(graph=graph) as talk:
        converse(talk, ["Some tea", "No, coffee", "Fine"])
    first, second, third = capsys.readouterr().err.splitlines()
    assert first.startswith("moved start -> tea (entry); given tea ")
    assert second.startswith("moved tea -> coffee (route); given coffee ")
    assert "moved" not in third


def test_the_json_of_a_reply_has_the_steps_in_the_skill_graph(talking: Any, script: Script) -> None:
    from skillweave.graph import SkillGraph

    graph = SkillGraph.from_dict({"entries": [{"skill": "tea"}]}, check="off")
    script.then("Boil it.")
    (answer,) = answers(talking(graph=graph), ["Some tea"])
    (moved,) = answer.value().to_dict()["moved"]  # type: ignore[misc]
    assert (moved["from_skill"], moved["to_skill"], moved["by"]) == (None, "tea", "entry")


def test_without_a_terminal_the_remedy_names_the_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    pending = PendingCheckpoint("bills", "release", "pay", True, None, "May it be paid?")
    with pytest.raises(Mistake, match=r"ledger approve c1 bills release"):
        ask_person(question("c1", [pending]))
