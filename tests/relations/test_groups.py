from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.relations.admit import Group, form_groups, rank
from skillweave.selection import Candidate


def _candidates(*ids: str) -> list[Candidate]:
    return [Candidate(skill_id, 0.8, "triggers") for skill_id in ids]


def _groups(chosen: list[str], engaged: list[str], **closures: list[str]) -> list[tuple[str, ...]]:
    ranking = rank(_candidates(*chosen), engaged)
    sets = {skill_id: dict.fromkeys((skill_id, *companions)) for skill_id, companions in closures.items()}
    return [group.members for group in form_groups(sets, ranking)]


def test_skills_that_share_nothing_are_groups_of_their_own_in_rank() -> None:
    assert _groups(["b", "a"], [], a=[], b=[]) == [("b",), ("a",)]


def test_matches_come_before_engaged_skills() -> None:
    assert _groups(["new"], ["old", "older"], old=[], older=[], new=[]) == [("new",), ("old",), ("older",)]


def test_a_mutual_pair_is_one_group_under_the_better_ranked() -> None:
    assert _groups(["b", "a"], [], a=["b"], b=["a"]) == [("b", "a")]


def test_two_heads_that_share_a_companion_are_one_group_under_the_better_ranked() -> None:
    assert _groups(["b", "a"], [], a=["shared"], b=["shared"]) == [("b", "shared", "a")]


def test_a_matched_companion_does_not_lead_the_skill_that_needs_it() -> None:
    assert _groups(["tool", "task"], [], tool=[], task=["tool"]) == [("task", "tool")]


def test_one_skill_can_join_several_groups_into_one() -> None:
    assert _groups(["a", "b", "c"], [], a=["x"], b=["y"], c=["x", "y"]) == [("a", "x", "b", "y", "c")]


def test_a_group_ranks_by_its_best_match_and_names_it() -> None:
    ranking = rank(_candidates("tool", "other"), ["task"])
    groups = form_groups({"task": dict.fromkeys(("task", "tool")), "other": {"other": None}}, ranking)
    assert groups == (
        Group("task", ("task", "tool"), ranking.matched["tool"]),
        Group("other", ("other",), ranking.matched["other"]),
    )


def test_of_a_candidate_that_stands_twice_the_first_counts() -> None:
    first, second = Candidate("a", 0.9, "explicit"), Candidate("a", 0.1, "lexical")
    assert rank([first, second], []).matched == {"a": first}


class _Counted(dict[str, None]):
    """A closure that knows how many members somebody has walked over."""

    walked = 0

    def __iter__(self) -> Iterator[str]:
        for member in super().__iter__():
            type(self).walked += 1
            yield member


@pytest.mark.parametrize("length", [40, 160])
def test_skills_in_a_long_chain_are_joined_in_one_walk_over_what_each_needs(length: int) -> None:
    names = [f"s{place}" for place in range(length)]
    closures = {name: _Counted.fromkeys(names[place:]) for place, name in enumerate(names)}
    _Counted.walked = 0
    (group,) = form_groups(closures, rank(_candidates(*names), []))
    assert group.members == tuple(names)
    assert _Counted.walked <= 4 * sum(map(len, closures.values()))


@given(needs=st.dictionaries(st.sampled_from("abcdefgh"), st.sets(st.sampled_from("abcdefgh")), min_size=1))
def test_groups_share_no_skill_and_hold_all_that_their_members_need(needs: dict[str, set[str]]) -> None:
    closures = {owner: _reached(owner, needs) for owner in needs}
    groups = _groups(sorted(needs), [], **{owner: sorted(closure - {owner}) for owner, closure in closures.items()})
    members = [member for group in groups for member in group]
    assert len(members) == len(set(members)) == len(set().union(*closures.values()))
    for owner, closure in closures.items():
        (group,) = (group for group in groups if owner in group)
        assert closure <= set(group)


def _reached(owner: str, needs: dict[str, set[str]]) -> set[str]:
    reached = {owner}
    while more := {other for one in reached for other in needs.get(one, ())} - reached:
        reached |= more
    return reached
