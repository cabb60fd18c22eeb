"""The library of example skills against messages that call for none of them."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.off_topic import MESSAGES
from skillweave.select.index import SkillIndex
from skillweave.sources.folder import Folder
from tests.asking import ask, chosen, index_of


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
