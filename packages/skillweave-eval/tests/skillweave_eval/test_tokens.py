"""What the skills of conversations cost."""

import json
from pathlib import Path

import pytest
from tests.skillweave_eval.libraries import COFFEE, TEA, weaver_of

from skillweave import Message, Role
from skillweave.errors import InvalidData
from skillweave_eval.ranking import Configuration
from skillweave_eval.tokens import Talk, TokensReport, count_tokens, read_talks

TALKS = (
    Talk(
        "1", (Message(Role.USER, "Some tea please"), Message(Role.ASSISTANT, "Here."), Message(Role.USER, "More tea"))
    ),
    Talk("2", (Message(Role.USER, "What is 2+2?"),)),
)


async def counted(*talks: Talk) -> TokensReport:
    weaver = weaver_of(TEA, COFFEE)
    return await count_tokens(weaver, talks, "talks", Configuration(weaver.skills.matchers))


async def test_every_call_of_every_method_is_counted() -> None:
    report = await counted(*TALKS)
    assert (report.conversations, report.calls, report.skills) == (2, 3, 2)
    assert [(one.name, one.calls) for one in report.methods] == [
        ("everything loaded", 3),
        ("catalog + read", 3),
        ("names only + read", 3),
        ("skillweave", 3),
    ]
    everything, catalog, names, woven = (one.tokens for one in report.methods)
    assert everything == 3 * await weaver_of(TEA, COFFEE).skills.tokens_of_everything()
    assert names < catalog
    assert woven > 0


async def test_a_skill_is_read_once_and_then_cached() -> None:
    report = await counted(TALKS[0])
    one = next(one for one in report.methods if one.name == "names only + read")
    first = one.tokens - one.cached
    assert one.tokens == 2 * first
    assert one.cached_share == 0.5


async def test_nothing_is_cached_in_a_conversation_of_one_call() -> None:
    assert {one.cached for one in (await counted(TALKS[1])).methods} == {0}


async def test_the_tiers_are_those_of_what_was_given() -> None:
    tiers = (await counted(*TALKS)).by_tier
    assert tiers["2"] > 0
    assert (await counted(TALKS[1])).by_tier["2"] == 0


async def test_a_report_travels() -> None:
    report = await counted(*TALKS)
    assert TokensReport.from_dict(report.to_dict()) == report


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"messages": [{"role": "user", "content": "Tea"}]}\n\n["Coffee", "More"]\n'),
        ("a.json", '[{"messages": [{"role": "user", "content": "Tea"}]}, ["Coffee", "More"]]'),
        ("a.jsonl", '{"id": "r1", "message": "Tea"}\n{"before": ["Coffee"], "message": "More"}'),
    ],
)
def test_conversations_are_lists_of_messages_or_of_what_the_user_says(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    talks = read_talks(path)
    assert [[message.text for message in talk.messages] for talk in talks] == [["Tea"], ["Coffee", "More"]]
    assert [talk.calls for talk in talks] == [1, 2]


def test_one_conversation_may_stand_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    said = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Tea"}]
    path.write_text(json.dumps(said))
    (talk,) = read_talks(path)
    assert [message.role for message in talk.messages] == [Role.USER]


@pytest.mark.parametrize("text", ["{", "[]", "[3]", '[{"messages": [{"role": "king", "content": "x"}]}]', '[["a", 3]]'])
def test_what_is_no_conversation_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InvalidData, match=r"a\.json"):
        read_talks(path)
