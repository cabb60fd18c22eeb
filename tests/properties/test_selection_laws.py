import json
import os
import subprocess
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Role, Skill
from skillweave.select.selection import MATCHERS, select
from skillweave.selection import Selection
from skillweave.text.search import MatchMode, compile_automaton, edges_of, fits, fold, fold_message
from skillweave.text.words import word_spans, words_of
from tests.asking import ask, index_of, skill, turn
from tests.depth import tried

PIECES = (
    "red",
    "Red",
    "blue car",
    "c++",
    "ﬁx",
    "e\u0301",
    "天气",
    "\u0301",
    "ſ",
    "\ud800",
    "\0",
    " ",
    "-",
    "_",
    "467'",
    "ß",
)
texts = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
)
phrases = st.one_of(st.sampled_from(PIECES), st.text(min_size=1, max_size=6))
ids = st.sampled_from(("red", "blue-car", "fix_it", "a", "Data-X", "weather"))


@st.composite
def libraries(draw: st.DrawFn) -> list[Skill]:
    names = draw(st.lists(ids, unique=True, max_size=4))
    return [
        skill(
            name,
            *draw(st.lists(phrases, max_size=3)),
            description=draw(texts),
            never=draw(st.lists(phrases, max_size=1)),
            patterns=draw(st.lists(st.sampled_from(("re+d", r"\bblue", "(", "a*")), max_size=2)),
        )
        for name in names
    ]


def rule(text: str) -> str:
    """The rule of spec 2.2 as it is written, on the whole text."""
    valid = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", valid).casefold())
    folded = unicodedata.normalize("NFKC", folded.casefold())
    return "".join(" " if character in "\n\t\r\v\f" else character for character in folded)


@tried(33)
@given(texts)
def test_folding_is_the_written_rule(text: str) -> None:
    assert fold(text) == rule(text)


@tried(33)
@given(texts)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@tried(33)
@given(texts, st.data())
def test_the_original_of_a_span_folds_to_a_text_that_has_the_span(text: str, data: st.DataObject) -> None:
    folded = fold_message(text)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    begin, after = folded.span(start, end)
    assert 0 <= begin < after <= len(text)
    assert folded.text[start:end] in fold(text[begin:after])


@tried(33)
@given(st.lists(phrases.map(fold).filter(bool), max_size=5, unique=True), texts)
def test_the_automaton_finds_what_a_search_at_every_place_finds(wanted: list[str], text: str) -> None:
    folded = fold(text)
    expected = {}
    for number, phrase in enumerate(wanted):
        edges = edges_of(phrase)
        for start in range(len(folded) - len(phrase) + 1):
            end = start + len(phrase)
            if folded[start:end] == phrase and fits(folded, start, end, edges):
                expected[number] = (start, end)
                break
    assert compile_automaton((phrase, MatchMode.WORD) for phrase in wanted).search(folded).spans == expected


@tried(33)
@given(texts)
def test_words_and_their_spans_agree(text: str) -> None:
    folded = fold(text)
    spans = word_spans(folded)
    assert list(dict.fromkeys(words_of(text))) == list(spans)
    assert all(folded[start:end].replace("_", " ") == word for word, (start, end) in spans.items())


@given(libraries(), texts, st.sets(ids), st.sets(st.sampled_from(sorted(MATCHERS)), min_size=1))
def test_every_skill_stands_once_in_range_and_within_the_limits(
    skills: list[Skill], text: str, within: set[str], matchers: set[str]
) -> None:
    selection = ask(index_of(*skills), text, within=frozenset(within), matchers=sorted(matchers))
    candidates = [*selection.chosen, *(each.candidate for each in selection.rejected)]
    names = [each.skill_id for each in candidates]
    assert len(names) == len(set(names))
    assert all(0 <= each.score <= 1 for each in candidates)
    assert {each.skill_id for each in selection.chosen} <= within
    for piece in (piece for each in candidates for piece in each.evidence):
        assert piece.text.encode()
        assert piece.start is None or 0 <= piece.start < (piece.end or 0) <= len(text)


@given(libraries(), texts)
def test_the_same_question_gets_the_same_answer(skills: list[Skill], text: str) -> None:
    assert ask(index_of(*skills), text) == ask(index_of(*skills), text)


@given(texts.map(lambda text: f"{text} SKILL_SELECT:red {text}"))
def test_a_marker_in_a_users_message_never_selects(text: str) -> None:
    searched = index_of(skill("red"), skill("blue-car"))
    alone = select(searched, turn(text.replace("SKILL_SELECT:red", " " * 16)))
    assert select(searched, turn(text)) == alone


@given(texts, st.sampled_from([role for role in Role if role is not Role.USER]))
def test_what_others_say_triggers_nothing(text: str, role: Role) -> None:
    selection = select(index_of(skill("red", "red", "blue car")), turn(text, role=role))
    assert selection == Selection()


_PROGRAM = """
import json
from tests.asking import ask, index_of, skill
words = "red green blue car boat plane train bus bike ship".split()
skills = [
    skill(f"{a}-{b}", a, description=f"{a} {b} for the {c}", verbs=[b], patterns=[f"{c}s+"])
    for a in words for b in words[:3] for c in words[:2]
]
searched = index_of(*skills)
answers = [ask(searched, message) for message in ("red boats", "a blue plane and the reds", "for the ship", "boat bus")]
print(json.dumps([repr(answer) for answer in answers]))
"""


def test_the_answer_does_not_depend_on_the_hash_seed() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(("src", "."))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(answers) == 1
    assert json.loads(answers.pop())
