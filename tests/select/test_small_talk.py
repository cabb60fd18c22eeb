"""The library of example skills against messages that call for none of them."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.off_topic import MESSAGES
from skillweave.select.index import SkillIndex
from skillweave.sources.folder import Folder
from tests.asking import ask, chosen, index_of
from tests.skills import make_skill

OTHERS = tuple(make_skill(f"other-{n}", description=f"Handles subject {n} of the list.") for n in range(9))


@pytest.fixture(scope="module")
def examples() -> SkillIndex:
    folder = Path(__file__).parents[2] / "examples" / "skills"
    return index_of(*asyncio.run(Folder(folder).load()).skills)


@pytest.mark.parametrize("message", ["What is 2+2?", "Calculate pi"])
def test_the_unrelated_examples_select_no_example_skill(examples: SkillIndex, message: str) -> None:
    assert chosen(ask(examples, message)) == []


def test_shared_words_select_for_hardly_any_small_talk(examples: SkillIndex) -> None:
    caught = {message: chosen(ask(examples, message, matchers=["lexical"])) for message in MESSAGES}
    assert sum(map(bool, caught.values())) <= len(MESSAGES) * 0.03, {k[:60]: v for k, v in caught.items() if v}


HATS = make_skill("hat-care", description="Cleans a felt hat and steams its brim.", instructions="Brush 12 times.")


def shown(message: str) -> list[str]:
    found = ask(index_of(HATS, *OTHERS), message)
    return [one.skill_id for one in (*found.chosen, *found.offered)]


def test_a_function_word_of_the_messages_own_language_is_no_evidence() -> None:
    assert shown("Danke dir, hat geklappt") == []


def test_the_same_word_in_an_english_message_is_evidence() -> None:
    assert shown("how do I steam a hat") == ["hat-care"]


def test_a_number_alone_offers_nothing() -> None:
    assert shown("quanto fa 144 diviso 12?") == []


def test_a_number_beside_a_word_is_evidence_like_others() -> None:
    assert "12" in [
        e.text for one in ask(index_of(HATS, *OTHERS), "brush the hat 12 times").chosen for e in one.evidence
    ]
