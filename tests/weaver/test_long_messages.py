"""Of a long message both ends are matched, beside the event loop, and the turn says so."""

import threading
from pathlib import Path

import pytest

import skillweave
from skillweave import Weaver
from skillweave.entities import MemoryGraph
from skillweave.knowledge.recognise import Recogniser
from skillweave.select.matchers import MatchContext
from skillweave.selection import Selection
from skillweave.text.search import MOST_MATCHED
from skillweave.turn.run import LONG_MESSAGE
from tests.asking import skill
from tests.observing import weaver_of

FIRST, MIDDLE, LAST = (skill(f"{name}-skill", name) for name in ("first", "middle", "last"))
PATTERN = skill("some-pattern", patterns=[r"x+[0-9]{3}"])


def _long(begin: str, middle: str, end: str) -> str:
    pad = "lorem ipsum " * (MOST_MATCHED // 8)
    return f"{begin} {pad}{middle} {pad}{end}"


@pytest.fixture
def weaver() -> Weaver:
    return weaver_of(FIRST, MIDDLE, LAST, PATTERN, matchers=("explicit", "triggers"))


async def test_both_ends_of_a_long_message_are_matched_and_the_turn_says_what_was_not(weaver: Weaver) -> None:
    text = _long("the first", "the middle xxx123", "the last xxx456")
    injection = await weaver.weave(text, conversation="c")
    assert set(injection.skills) == {"first-skill", "last-skill", "some-pattern"}
    (finding,) = injection.diagnostics
    assert finding.code == "message-partly-read"
    assert f"the first and the last 32,768 of the message's {len(text):,} characters" in finding.message
    places = [(one.start, one.end) for each in injection.decisions for one in each.evidence if one.kind != "id"]
    assert {text[start:end] for start, end in places} == {"first", "last", "xxx456"}


async def test_of_a_message_of_usual_length_nothing_is_said(weaver: Weaver) -> None:
    assert (await weaver.weave("the middle " * 100, conversation="c")).diagnostics == ()


class _WhereAmI:
    """A matcher that knows in which threads it was asked."""

    name, strength, deliberate = "where", 1, False

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def match(self, context: MatchContext) -> Selection:
        self.threads.append(threading.current_thread())
        return Selection()


@pytest.mark.parametrize(("length", "beside"), [(LONG_MESSAGE, False), (LONG_MESSAGE + 1, True)])
async def test_a_long_message_is_matched_beside_the_event_loop(length: int, beside: bool) -> None:
    matcher = _WhereAmI()
    await weaver_of(FIRST, matchers=(matcher,)).weave("x" * length, conversation="c")
    assert [one is not threading.current_thread() for one in matcher.threads] == [beside]


async def test_a_short_message_that_meets_large_patterns_is_matched_beside_the_event_loop() -> None:
    matcher = _WhereAmI()
    large = skill("large-patterns", patterns=[f".{{500}}.*b{n}" for n in range(10)])
    await weaver_of(large, matchers=(matcher,)).weave("x" * 4000, conversation="c")
    assert matcher.threads[0] is not threading.current_thread()


@pytest.mark.parametrize(
    ("pattern", "length", "beside"),
    [("X[0-9]", LONG_MESSAGE, False), ("X[0-9]", LONG_MESSAGE + 1, True), ("X[0-9]{900}" * 3, LONG_MESSAGE, True)],
    ids=["short", "a long message", "a large pattern"],
)
async def test_ids_are_looked_for_beside_the_event_loop_where_that_takes_long(
    pattern: str, length: int, beside: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    threads: list[threading.Thread] = []

    def found(recogniser: Recogniser, text: str) -> None:
        threads.append(threading.current_thread())

    monkeypatch.setattr(Recogniser, "find", found)
    pack = tmp_path / "pack.yaml"
    pack.write_text(f"skills: []\ncontext: {{recognise: [{{pattern: '{pattern}'}}]}}\n", encoding="utf-8")
    await skillweave.open(pack, entities=MemoryGraph()).weave("x" * length, conversation="c")
    assert [one is not threading.current_thread() for one in threads] == [beside]
