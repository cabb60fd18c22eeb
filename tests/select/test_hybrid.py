import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from skillweave.diagnostics import Diagnostic
from skillweave.dialogue import Role
from skillweave.select.hybrid import HybridMatcher, whole_text, windows_of
from skillweave.select.index import SkillIndex
from skillweave.select.lexical import Dense
from skillweave.select.matchers import Hindered, Prepared, make_matchers_ready, prepare_matchers
from skillweave.select.selection import find_matchers, select
from skillweave.skill import Skill
from tests import asking
from tests.asking import turn

MEANINGS = {"invoice": 0, "bill": 0, "rechnung": 0, "garden": 1, "plants": 1, "pflanzen": 1}


class ByMeaning:
    """Embeds by a table of words with the same meaning."""

    id = "by-meaning"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing = False
        self.waits = 0.0

    async def embed(self, texts: Sequence[str]) -> Any:
        await asyncio.sleep(self.waits)
        if self.failing:
            raise OSError("no vectors today")
        self.asked.extend(texts)
        rows = np.full((len(texts), 3), 0.05, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word, place in MEANINGS.items():
                row[place] += word in text.lower()
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def skill(name: str, description: str, **more: Any) -> Skill:
    return Skill(id=name, name=name, description=description, **more)


SKILLS = (
    skill("make-invoice", "Writes an invoice for a customer."),
    skill("care-for-garden", "Waters plants at the right time."),
)


def index_of() -> SkillIndex:
    return asking.index_of(*SKILLS)


def prepared(matcher: HybridMatcher, index: SkillIndex, text: str, seconds: float = 5.0) -> Any:
    return asyncio.run(matcher.prepare(index, turn(text), seconds))


def test_a_request_in_other_words_is_near_the_right_skill() -> None:
    found = prepared(HybridMatcher(ByMeaning()), index_of(), "Rechnung schreiben")
    assert isinstance(found, Dense)
    assert found.embedder == "by-meaning"
    assert found.cosines[0] > found.cosines[1]


def test_a_skill_is_embedded_once_however_many_turns_come() -> None:
    embedder, index = ByMeaning(), index_of()
    matcher = HybridMatcher(embedder)
    for text in ("Rechnung", "Pflanzen", "bill"):
        prepared(matcher, index, text)
    assert len(embedder.asked) == len(set(embedder.asked))


def test_turns_that_come_at_once_make_the_vectors_once() -> None:
    embedder, index = ByMeaning(), index_of()
    embedder.waits = 0.01
    matcher = HybridMatcher(embedder)

    async def together() -> None:
        await asyncio.gather(*(matcher.prepare(index, turn(f"Rechnung {n}"), 5.0) for n in range(4)))

    asyncio.run(together())
    assert embedder.asked.count(whole_text(SKILLS[0])) == 1


def test_where_the_embedder_fails_words_rank_and_the_turn_says_so() -> None:
    embedder, index = ByMeaning(), index_of()
    embedder.failing = True
    matchers = find_matchers([HybridMatcher(embedder)])
    asked = turn("an invoice for a customer")
    found = asyncio.run(prepare_matchers(matchers, index, asked, 5.0))
    (said,) = found.diagnostics
    assert said.code == "words-only"
    assert "no vectors today" in said.message
    words = select(index, asked, matchers=["lexical"])
    hybrid = select(index, asked, matchers=matchers, prepared=found)
    ids = [[one.skill_id for one in (*part.chosen, *part.offered)] for part in (words, hybrid)]
    assert ids[0] == ids[1]


def test_while_vectors_are_not_ready_words_rank_and_a_later_turn_has_them() -> None:
    embedder, index = ByMeaning(), index_of()
    embedder.waits = 0.2
    matcher = HybridMatcher(embedder)

    async def twice() -> tuple[Any, Any]:
        early = await matcher.prepare(index, turn("Rechnung"), 0.05)
        await asyncio.sleep(0.6)
        embedder.waits = 0.0
        return early, await matcher.prepare(index, turn("Rechnung"), 5.0)

    early, late = asyncio.run(twice())
    assert isinstance(early, Hindered)
    assert isinstance(early.diagnostic, Diagnostic)
    assert isinstance(late, Dense)


def test_what_is_made_ready_before_needs_no_time_in_the_turn() -> None:
    embedder, index = ByMeaning(), index_of()
    matcher = HybridMatcher(embedder)
    asyncio.run(make_matchers_ready(find_matchers([matcher]), index))
    before = len(embedder.asked)
    prepared(matcher, index, "Rechnung")
    assert embedder.asked[before:] == ["Rechnung"]


def test_a_message_that_asks_for_nothing_is_not_embedded() -> None:
    embedder, index = ByMeaning(), index_of()
    matcher = HybridMatcher(embedder)
    prepared(matcher, index, "Rechnung")
    embedder.asked.clear()
    assert prepared(matcher, index, "Thank you, go on!") is None
    assert embedder.asked == []


def test_an_assistants_message_is_not_embedded() -> None:
    embedder = ByMeaning()
    assert asyncio.run(HybridMatcher(embedder).prepare(index_of(), turn("invoice", role=Role.ASSISTANT), 5.0)) is None
    assert embedder.asked == []


def test_candidates_bear_the_name_of_the_matcher() -> None:
    index = index_of()
    matchers = find_matchers([HybridMatcher(ByMeaning())])
    asked = turn("an invoice for a customer")
    ready: Prepared = asyncio.run(prepare_matchers(matchers, index, asked, 5.0))
    found = select(index, asked, matchers=matchers, prepared=ready)
    everyone = [*found.chosen, *found.offered, *(one.candidate for one in found.rejected)]
    assert everyone
    assert {one.matcher for one in everyone} == {"hybrid"}


def test_a_vector_that_is_not_finite_is_near_nothing() -> None:
    class Broken(ByMeaning):
        async def embed(self, texts: Sequence[str]) -> Any:
            rows = await super().embed(texts)
            rows[["garden" in text for text in texts]] = np.nan
            return rows

    found = prepared(HybridMatcher(Broken()), index_of(), "invoice")
    assert np.isfinite(found.cosines).all()


@pytest.mark.parametrize("length", [1, 400, 401, 5_000, 50_000])
def test_windows_cover_a_message_and_are_few(length: int) -> None:
    message = ("word " * (length // 5 + 1))[:length]
    windows = list(windows_of(message))
    assert windows[0] == message
    assert len(windows) <= 13
    assert all(window in message for window in windows)


def test_a_long_message_is_as_near_as_its_nearest_part() -> None:
    matcher, index = HybridMatcher(ByMeaning()), index_of()
    long = "nothing of interest here. " * 60 + "Please send the bill. " + "still nothing. " * 60
    assert prepared(matcher, index, long).cosines[0] > prepared(matcher, index, "of interest").cosines[0]
