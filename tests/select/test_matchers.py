"""Matchers as a port: the built-in ones and a guest pass one contract; what is declared decides who wins."""

import asyncio
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from skillweave import Evidence, Matcher, Message, Outcome, Role, SkillweaveError, Status, Turn
from skillweave.errors import UnknownMatcher
from skillweave.select.index import SkillIndex
from skillweave.select.matchers import Prepared, prepare_matchers
from skillweave.select.selection import DEFAULT, EXTENSIONS, MATCHERS, find_matchers, matcher_names, select
from skillweave.selection import Candidate, MatchContext, Rejected, Selection
from skillweave.skills import Task
from skillweave_testing import FakeEmbedder
from skillweave_testing.matchers import MatcherContract
from tests.asking import chosen, index_of, refusal, skill, turn


class SameWords:
    """A guest without preparation: skills whose description has the message's words."""

    name, strength, deliberate = "same-words", 15, False

    def match(self, context: MatchContext) -> Selection:
        said = set(context.message.text.split()) if context.message else set()
        found = []
        for each in context.skills.active:
            if shared := said & set(each.description.lower().rstrip(".").split()):
                score = min(1.0, len(shared) / 10)
                found.append(Candidate(each.id, score, self.name, (Evidence("words", " ".join(sorted(shared))),)))
        return Selection(tuple(sorted(found, key=lambda one: -one.score)))


@dataclass(frozen=True)
class Meaning:
    """A guest that prepares: the vectors of the message and of the skills, from an embedder."""

    embedder: Any = field(default_factory=FakeEmbedder)
    threshold: float = 0.2
    name: str = "meaning"
    strength: int = 12
    deliberate: bool = False

    async def prepare(self, index: SkillIndex, turn: Turn, seconds: float) -> list[float]:
        texts = [each.description for each in index.active]
        vectors = await self.embedder.embed([turn.message.text, *texts])
        return [float(row @ vectors[0]) for row in vectors[1:]]

    def match(self, context: MatchContext) -> Selection:
        if context.message is None:
            return Selection()
        scored = zip(context.skills.active, context.prepared, strict=True)
        both = [
            (max(0.0, min(1.0, score)), Candidate(each.id, round(max(0.0, score), 3), self.name, (NEAR,)))
            for each, score in scored
        ]
        chosen = [candidate for score, candidate in both if score >= self.threshold]
        left = [
            Rejected(candidate, Outcome.BELOW_THRESHOLD, "not near enough")
            for score, candidate in both
            if score < self.threshold
        ]
        return Selection(tuple(chosen), tuple(left))


NEAR = Evidence("near", "in meaning")


class TestExplicit(MatcherContract):
    @pytest.fixture
    def matcher(self) -> Matcher:
        return MATCHERS["explicit"]

    @pytest.fixture
    def turn(self) -> Turn:
        return turn("hello", named=["refund"])


class TestMention(MatcherContract):
    @pytest.fixture
    def matcher(self) -> Matcher:
        return MATCHERS["mention"]

    @pytest.fixture
    def turn(self) -> Turn:
        return turn("/refund the last charge")


class TestTask(MatcherContract):
    @pytest.fixture
    def matcher(self) -> Matcher:
        return MATCHERS["task"]

    @pytest.fixture
    def turn(self) -> Turn:
        return turn("hello", task=Task(coding=True))


class TestTriggers(MatcherContract):
    @pytest.fixture
    def matcher(self) -> Matcher:
        return MATCHERS["triggers"]


class TestLexical(MatcherContract):
    @pytest.fixture
    def matcher(self) -> Matcher:
        return MATCHERS["lexical"]

    @pytest.fixture
    def turn(self) -> Turn:
        return turn("Find the charge and give the money back, a refund please")


class TestAGuest(MatcherContract):
    @pytest.fixture
    def matcher(self) -> Matcher:
        return SameWords()


class TestAGuestThatPrepares(MatcherContract):
    @pytest.fixture
    def matcher(self) -> Matcher:
        return Meaning()


LIBRARY = index_of(
    skill("refund", "money back", description="gives money back", never=["no refund"]),
    skill("desk", description="books a desk"),
)


def test_the_stronger_is_asked_first_whatever_order_they_are_named_in() -> None:
    assert find_matchers(["lexical", SameWords(), "explicit", "triggers"]).names == (
        "explicit",
        "triggers",
        "same-words",
        "lexical",
    )


def test_the_built_in_strengths_are_in_the_order_of_who_engages() -> None:
    found = find_matchers(DEFAULT)
    names = ("unknown", "lexical", "triggers", "graph", "task", "mention", "host", "explicit")
    assert sorted(names, key=found.strength) == list(names)
    assert [name for name in names if found.deliberate(name)] == ["graph", "task", "mention", "host", "explicit"]


def test_a_matcher_that_does_not_take_part_now_still_has_its_strength() -> None:
    found = find_matchers(["triggers"])
    assert found.strength("mention") == MATCHERS["mention"].strength
    assert found.deliberate("mention")


def test_a_guest_answers_for_its_own_strength_only_while_it_is_configured() -> None:
    assert find_matchers([SameWords()]).strength("same-words") == 15
    assert find_matchers(DEFAULT).strength("same-words") == 0
    assert not find_matchers(DEFAULT).deliberate("same-words")


def test_a_guest_and_a_built_in_matcher_speak_for_one_skill_together() -> None:
    selection = select(LIBRARY, turn("my money back"), matchers=[SameWords(), "triggers"])
    (only,) = selection.chosen
    assert only.matcher == "triggers"
    assert [piece.kind for piece in only.evidence] == ["keyword", "words"]


@dataclass(frozen=True)
class Picks:
    """A guest that picks what it is told."""

    ids: tuple[str, ...]
    deliberate: bool = False
    name: str = "picks"
    strength: int = 33

    def match(self, context: MatchContext) -> Selection:
        return Selection(tuple(Candidate(one, 1.0, self.name) for one in self.ids))


@pytest.mark.parametrize(
    ("picked", "outcome"),
    [
        ("nobody", Outcome.UNKNOWN),
        ("x" * 5000, Outcome.UNKNOWN),
        ("draft", Outcome.INACTIVE),
        ("b", Outcome.UNREACHABLE),
    ],
)
def test_a_guest_cannot_choose_what_nobody_may_choose(picked: str, outcome: Outcome) -> None:
    library = index_of(skill("a"), skill("b"), skill("draft", status=Status.DRAFT))
    selection = select(library, turn("hi"), matchers=[Picks((picked, "a"))], within=frozenset({"a", "draft"}))
    assert chosen(selection) == ["a"]
    (rejected,) = selection.rejected
    assert rejected.outcome is outcome
    assert len(rejected.candidate.skill_id) <= 100


def test_a_never_phrase_vetoes_what_a_guest_picks_unless_that_is_somebodys_decision() -> None:
    asked = turn("no refund")
    vetoed = select(LIBRARY, asked, matchers=[Picks(("refund",))])
    assert refusal(vetoed, "refund").outcome is Outcome.VETOED
    assert chosen(select(LIBRARY, asked, matchers=[Picks(("refund",), deliberate=True)])) == ["refund"]


def test_what_is_closed_to_the_model_only_a_deliberate_guest_opens() -> None:
    library = index_of(replace(skill("wipe"), extra={"disable-model-invocation": True}))
    assert refusal(select(library, turn("hi"), matchers=[Picks(("wipe",))]), "wipe").outcome is Outcome.FORBIDDEN
    assert chosen(select(library, turn("hi"), matchers=[Picks(("wipe",), deliberate=True)])) == ["wipe"]


def test_the_built_in_matchers_are_found_by_their_names_too() -> None:
    made = {name: EXTENSIONS.make(name, lambda matcher: matcher()) for name in EXTENSIONS.built_in}
    assert {name: type(one) for name, one in made.items()} == {name: type(one) for name, one in MATCHERS.items()}


MODULE = """

class Guest:
    name, strength, deliberate = "guest", 5, False
    def match(self, context):
        return Selection()

class Other(Guest):
    name = "another"

class Weak(Guest):
    name, strength = "weak", 0

class Builtin(Guest):
    name = "host"

class Vague:
    name, strength = "vague", 5

class Mute:
    name, strength, deliberate = "mute", 5, False

def failing():
    raise KeyError("HOME")
"""
ENTRY_POINTS = """
[skillweave.matchers]
guest = guest_matchers:Guest
misnamed = guest_matchers:Other
weak = guest_matchers:Weak
host = guest_matchers:Builtin
vague = guest_matchers:Vague
mute = guest_matchers:Mute
failing = guest_matchers:failing
lost = no_such_module:Matcher
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of somebody else, as an installer leaves it."""
    (tmp_path / "guest_matchers.py").write_text(MODULE, encoding="utf-8")
    about = tmp_path / "guest_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest-package\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "guest_matchers", raising=False)


@pytest.mark.usefixtures("installed")
def test_a_guest_is_found_by_its_name() -> None:
    assert find_matchers(["guest", "explicit"]).names == ("explicit", "guest")
    assert "guest" in matcher_names()


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("misnamed", "entry point 'misnamed' calls itself 'another'; give both one name"),
        ("weak", "matcher 'weak' has strength 0; give a whole number above 0"),
        ("host", "a matcher is named 'host', as something built in is; give it another name"),
        ("vague", "matcher 'vague' does not say whether it is `deliberate`; give True or False"),
        ("mute", r"matcher 'mute' has no method `match`; give it `match\(context\)`"),
        ("failing", r"matcher 'failing' cannot be loaded \(KeyError: 'HOME'\); reinstall the package guest-package"),
        ("lost", r"matcher 'lost' cannot be loaded \(No module named .*reinstall the package guest-package"),
    ],
)
def test_a_guest_that_is_broken_is_one_line(name: str, message: str) -> None:
    with pytest.raises(SkillweaveError, match=message):
        find_matchers([name])


def test_two_matchers_of_one_name_are_refused() -> None:
    with pytest.raises(SkillweaveError, match="two matchers are named 'same-words'; leave one out"):
        find_matchers([SameWords(), SameWords()])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (SameWords, "the class SameWords is given as a matcher; give what it makes"),
        (object(), "a matcher of type object has no name; give it a text as `name`"),
    ],
)
def test_what_is_no_matcher_is_refused(given: Any, message: str) -> None:
    with pytest.raises(SkillweaveError, match=message):
        find_matchers([given])


def test_a_matcher_that_cannot_be_hashed_is_taken_too() -> None:
    @dataclass
    class Unhashable(SameWords):
        seen: int = 0

    assert find_matchers([Unhashable()]).names == ("same-words",)


def test_a_built_in_matcher_named_twice_is_asked_once() -> None:
    assert find_matchers(["triggers", "triggers"]).names == ("triggers",)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownMatcher, match="there is no matcher 'magic'; choose from explicit, mention, task"):
        find_matchers(["magic"])


@dataclass(frozen=True)
class Slow(Picks):
    """A guest whose preparation fails, or takes long."""

    seconds: float = 0.0
    failure: BaseException | None = None

    async def prepare(self, index: SkillIndex, turn: Turn, seconds: float) -> str:
        await asyncio.sleep(self.seconds)
        if self.failure is not None:
            raise self.failure
        return "ready"


async def test_what_is_prepared_reaches_its_own_matcher_alone() -> None:
    matchers = find_matchers([Slow(("refund",)), Meaning(), "triggers"])
    prepared = await prepare_matchers(matchers, LIBRARY, turn("x"), 1.0)
    assert set(prepared.values) == {"picks", "meaning"}
    assert prepared.values["picks"] == "ready"
    assert prepared.diagnostics == ()


@pytest.mark.parametrize(
    ("guest", "reason"),
    [
        (Slow(("refund",), seconds=30), "it took longer than 20 ms"),
        (Slow(("refund",), failure=OSError("no network")), "OSError: no network"),
        (Slow(("refund",), failure=asyncio.CancelledError()), "it was cancelled"),
    ],
)
async def test_a_matcher_that_cannot_prepare_is_not_asked_and_costs_nobody_else(guest: Slow, reason: str) -> None:
    matchers = find_matchers([guest, "triggers"])
    asked = turn("my money back")
    prepared = await prepare_matchers(matchers, LIBRARY, asked, 0.02)
    (finding,) = prepared.diagnostics
    assert (finding.code, finding.severity.value) == ("matcher-unprepared", "warning")
    assert finding.message == f"the matcher 'picks' could not prepare and was not asked in this turn: {reason}"
    assert select(LIBRARY, asked, matchers=matchers, prepared=prepared) == select(LIBRARY, asked, matchers=["triggers"])


async def test_all_prepare_at_once() -> None:
    several = [Slow(("refund",), name=f"slow-{number}", seconds=0.1) for number in range(10)]
    before = asyncio.get_running_loop().time()
    prepared = await prepare_matchers(find_matchers(several), LIBRARY, turn("x"), 5.0)
    assert len(prepared.values) == 10
    assert asyncio.get_running_loop().time() - before < 0.6


async def test_without_a_matcher_that_prepares_nothing_is_waited_for() -> None:
    with pytest.raises(StopIteration):
        prepare_matchers(find_matchers(DEFAULT), LIBRARY, turn("x"), 1.0).send(None)


async def test_who_is_cancelled_while_matchers_prepare_cancels_them() -> None:
    cancelled = asyncio.Event()

    class Waiting(Picks):
        async def prepare(self, index: SkillIndex, turn: Turn, seconds: float) -> None:
            try:
                await asyncio.sleep(30)
            finally:
                cancelled.set()

    task = asyncio.ensure_future(prepare_matchers(find_matchers([Waiting(())]), LIBRARY, turn("x"), 30.0))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(cancelled.wait(), 1.0)


def test_prepared_values_are_what_select_is_given() -> None:
    near = Prepared({"meaning": [0.9, 0.1]})
    assert chosen(select(LIBRARY, turn("anything"), matchers=[Meaning()], prepared=near)) == ["refund"]


def test_a_message_of_the_assistant_reaches_a_guest_without_words() -> None:
    asked = Turn("t1", "c1", Message(Role.ASSISTANT, "gives money back"))
    assert select(LIBRARY, asked, matchers=[SameWords()]) == Selection()
