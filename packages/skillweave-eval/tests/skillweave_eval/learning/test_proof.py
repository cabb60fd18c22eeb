"""Whether what was learned is better on later messages, and its versions."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.skillweave_eval.learning.conversations import SKILLS, heard
from tests.skillweave_eval.learning.test_learned import NOTHING, TODAY

import skillweave
from skillweave.errors import InvalidData
from skillweave.sources import InCode
from skillweave_eval.answers import Answer
from skillweave_eval.learning.labels import Heard
from skillweave_eval.learning.learned import Learned, WithLearned
from skillweave_eval.learning.proof import (
    CURRENT,
    LEAST,
    Versions,
    learn,
    prove,
    replay_with,
    replayed,
    worse_in,
)
from skillweave_eval.metrics import Resampling

RESAMPLING = Resampling(3, 200)
WORDS = "somewhere on the balcony beside the lifts"
REPLAY = replay_with(lambda learned: skillweave.open(WithLearned(InCode(*SKILLS), learned)))
WITHOUT_WORDS = [heard("", number=number, probability=0.3) for number in range(100)]


async def never(_: Learned, answers: Sequence[Answer]) -> Sequence[Answer]:
    assert not answers
    return ()


def people_say(text: str, count: int = 100) -> list[Heard]:
    return [heard(text, number=number, user=f"user {number % 7}") for number in range(count)]


def test_words_that_lead_to_a_skill_are_learned_and_proven() -> None:
    report = asyncio.run(learn(people_say(WORDS), NOTHING, REPLAY, RESAMPLING, TODAY))
    assert "desk-booking" in report.learned.phrases
    assert report.proven
    assert "recall_at_1" in report.better


def test_without_words_only_the_border_is_learned() -> None:
    report = asyncio.run(learn(WITHOUT_WORDS, NOTHING, never, RESAMPLING, TODAY))
    assert report.learned.phrases == {}
    assert report.learned.give_at == 0.3
    assert report.proven


def test_the_later_messages_are_not_learned_from() -> None:
    late = [*people_say("", 75), *people_say(WORDS)[75:]]
    assert asyncio.run(learn(late, NOTHING, REPLAY, RESAMPLING, TODAY)).learned.phrases == {}


def test_a_fit_that_gives_what_is_wrong_is_refused() -> None:
    wrong = [heard("", ("tax-return",), number=number, probability=0.3) for number in range(60)]
    worse = replace(NOTHING, give_at=0.1)
    assert "wrong_given" in worse_in(asyncio.run(prove(NOTHING, worse, wrong, never, RESAMPLING)))


def test_phrases_of_another_skill_are_refused() -> None:
    phrases = {"tax-return": {"balcony lifts window": TODAY.isoformat()}}
    later = people_say("the balcony beside the lifts, or a window", 60)
    differences = asyncio.run(prove(NOTHING, replace(NOTHING, phrases=phrases), later, REPLAY, RESAMPLING))
    assert "recall_at_1" in worse_in(differences)


def test_what_changes_nothing_is_not_proven() -> None:
    sure = [heard("", number=number, probability=0.9) for number in range(100)]
    report = asyncio.run(learn(sure, NOTHING, never, RESAMPLING, TODAY))
    assert (report.worse, report.better, report.proven) == ((), (), False)


def test_too_few_labelled_messages_are_named() -> None:
    few = [*WITHOUT_WORDS[: LEAST - 1], heard("", (), number=99)]
    with pytest.raises(InvalidData, match=f"{LEAST - 1} of {LEAST} messages .* {LEAST} are needed"):
        asyncio.run(learn(few, NOTHING, never, RESAMPLING, TODAY))


def test_messages_with_words_are_asked_again_and_others_are_not() -> None:
    mixed = [heard("", number=1), heard(WORDS, number=2)]
    first, second = asyncio.run(replayed(NOTHING, mixed, REPLAY))
    assert [place.skill_id for place in first.ranked] == ["desk-booking", "tax-return"]
    assert second.case.query == WORDS


def test_a_promoted_version_counts_until_it_is_rolled_back(tmp_path: Path) -> None:
    versions = Versions(tmp_path, "")
    for give_at in (0.4, 0.3):
        versions.promote(replace(NOTHING, give_at=give_at))
    assert Versions(tmp_path, "").current == versions.current
    back = versions.roll_back()
    assert back is not None
    assert (back.version, back.give_at) == (1, 0.4)
    assert versions.roll_back() is None
    assert Versions(tmp_path, "").current is None


def test_what_was_rolled_back_is_not_gone_back_to(tmp_path: Path) -> None:
    versions = Versions(tmp_path, "")
    for _ in range(2):
        versions.promote(NOTHING)
    versions.roll_back()
    assert versions.promote(NOTHING).name == "0003.json"
    back = versions.roll_back()
    assert back is not None
    assert back.version == 1


def test_rolling_back_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="nothing to roll back"):
        Versions(tmp_path, "").roll_back()


def test_the_folder_of_another_tenant_is_refused(tmp_path: Path) -> None:
    Versions(tmp_path, "acme").promote(replace(NOTHING, tenant="acme"))
    with pytest.raises(InvalidData, match="'acme'; name another folder for 'globex'"):
        Versions(tmp_path, "globex")


def test_a_damaged_version_is_named(tmp_path: Path) -> None:
    (tmp_path / CURRENT).write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidData, match=f"{CURRENT} is nothing that `skillweave eval learn` wrote"):
        Versions(tmp_path, "")


def test_an_authors_own_phrases_stay_in_front_of_learned_ones() -> None:
    own = replace(SKILLS[0], phrases=("where can I sit",))
    source = WithLearned(InCode(own), replace(NOTHING, phrases={"desk-booking": {"quiet corner": "2026-11-02"}}))
    (skill,) = asyncio.run(source.load()).skills
    assert skill.phrases == ("where can I sit", "quiet corner")
