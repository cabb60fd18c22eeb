"""Skills that not everybody may ask for, before every matcher."""

from dataclasses import replace

import pytest

from skillweave import Outcome, Role, Status
from skillweave.frozen import freeze_mapping
from skillweave.select.selection import DEFAULT, MATCHERS, select
from tests.asking import chosen, index_of, refusal, skill, turn

WIPE = skill("wipe-disk", "wipe", description="Erases every partition of a hard disk", body="Erase partitions.")
CLOSED = replace(WIPE, extra=freeze_mapping({"disable-model-invocation": "true"}))
HOST_ONLY = replace(WIPE, extra=freeze_mapping({"disable-model-invocation": "true", "user-invocable": "false"}))
OTHERS = [skill(f"skill-{number}", description=f"about topic{number}") for number in range(5)]


@pytest.mark.parametrize("text", ["wipe", "wipe-disk", "Erases every partition of the hard disk"])
def test_neither_triggers_nor_id_nor_words_select_what_is_closed_to_the_model(text: str) -> None:
    assert chosen(select(index_of(WIPE, *OTHERS), turn(text))) == ["wipe-disk"]
    closed = select(index_of(CLOSED, *OTHERS), turn(text))
    assert "wipe-disk" not in [*chosen(closed), *(each.candidate.skill_id for each in closed.rejected)]


@pytest.mark.parametrize("matcher", sorted(set(MATCHERS) - {"explicit", "mention", "task", "graph"}))
def test_no_matcher_of_words_knows_a_skill_that_is_closed_to_the_model(matcher: str) -> None:
    asked = turn("wipe disk: erases every partition of a hard disk")
    assert chosen(select(index_of(CLOSED, *OTHERS), asked, matchers=[matcher])) == []


def test_the_models_marker_is_rejected_and_told_who_may() -> None:
    selection = select(index_of(CLOSED), turn("SKILL_SELECT:wipe-disk", role=Role.ASSISTANT))
    refused = refusal(selection, "wipe-disk")
    assert (chosen(selection), refused.outcome) == ([], Outcome.FORBIDDEN)
    assert refused.reason == (
        "its `disable-model-invocation` is true: only a user who mentions it as /wipe-disk, or the host, selects it"
    )


def test_the_host_may_name_a_skill_that_nobody_else_may_ask_for() -> None:
    assert chosen(select(index_of(HOST_ONLY), turn("go", named=["wipe-disk"]))) == ["wipe-disk"]
    marked = turn("SKILL_SELECT:wipe-disk", role=Role.ASSISTANT, named=["wipe-disk"])
    assert chosen(select(index_of(HOST_ONLY), marked)) == ["wipe-disk"]
    refused = refusal(select(index_of(HOST_ONLY), turn("SKILL_SELECT:wipe-disk", role=Role.ASSISTANT)), "wipe-disk")
    assert refused.reason.endswith("only the host selects it")
    mentioned = select(index_of(HOST_ONLY), turn("/wipe-disk"), matchers=[*DEFAULT, "mention"])
    assert refusal(mentioned, "wipe-disk").outcome is Outcome.FORBIDDEN


def test_an_inactive_skill_is_inactive_first() -> None:
    draft = index_of(replace(CLOSED, status=Status.DRAFT))
    refused = refusal(select(draft, turn("SKILL_SELECT:wipe-disk", role=Role.ASSISTANT)), "wipe-disk")
    assert refused.outcome is Outcome.INACTIVE


def test_a_kit_compiles_who_may_ask_once() -> None:
    searched = index_of(skill("a"), CLOSED, replace(HOST_ONLY, id="b"))
    assert [each.id for each in searched.active] == ["a"]
    assert set(searched.closed) == {"wipe-disk", "b"}
    assert searched.invocation("a").by_model and searched.invocation("unknown").by_user
    assert not searched.invocation("b").by_user
    assert searched.mention_names() is searched.mention_names()


def test_when_to_use_a_skill_is_searched_like_its_description() -> None:
    plain = skill("cellar", description="Looks after the cellar")
    told = replace(plain, extra=freeze_mapping({"when_to_use": "bottling of fermented grape juice"}))
    asked = turn("bottling fermented grape juice")
    assert chosen(select(index_of(plain, *OTHERS), asked)) == []
    assert chosen(select(index_of(told, *OTHERS), asked)) == ["cellar"]
