"""Laws of merging what several sources bring."""

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Diagnostic, Severity, Skill
from skillweave.registry import Defined, Loaded, Precedence
from skillweave.registry.last_good import last_good_skills
from skillweave.registry.merging import Merged, add_registered, in_namespace, merge
from skillweave.registry.snapshot import Offer
from skillweave.skills import Origin
from skillweave.values import Location

IDS = "abcdef"


def offer(skill_id: str, place: str) -> Offer:
    skill = Skill(skill_id, skill_id, "x", origin=Origin("source", place))
    return Offer(skill, Defined(skill), skill)


offers = st.lists(st.sampled_from(IDS), max_size=12).map(
    lambda ids: [offer(skill_id, f"{index}/SKILL.md") for index, skill_id in enumerate(ids)]
)
precedences = st.sampled_from([Precedence.FIRST, Precedence.LAST])


def everything(merged: Merged) -> list[str]:
    skills = [*(winner.skill for winner in merged.winners.values()), *merged.shadowed]
    return sorted(skill.origin.location for skill in skills if skill.origin)


@given(offers, precedences)
def test_every_skill_either_wins_or_is_visibly_shadowed(given_offers: list[Offer], precedence: Precedence) -> None:
    merged = merge(given_offers, precedence)
    assert everything(merged) == sorted(offer.skill.origin.location for offer in given_offers if offer.skill.origin)
    assert set(merged.winners) == {offer.skill.id for offer in given_offers}
    assert [finding.skill for finding in merged.diagnostics] == [skill.id for skill in merged.shadowed]


@given(offers)
def test_the_last_wins_where_the_first_of_the_reverse_does(given_offers: list[Offer]) -> None:
    last, first = merge(given_offers, Precedence.LAST), merge(given_offers[::-1], Precedence.FIRST)
    assert dict(last.winners) == dict(first.winners)


@given(offers, precedences, st.frozensets(st.sampled_from(IDS)))
def test_what_is_hidden_is_nowhere(given_offers: list[Offer], precedence: Precedence, hidden: frozenset[str]) -> None:
    shown = add_registered(merge(given_offers, precedence), [], hidden, precedence)
    rest = merge([offer for offer in given_offers if offer.skill.id not in hidden], precedence)
    assert shown == rest


@given(offers, offers)
def test_skills_of_different_namespaces_never_clash(one: list[Offer], other: list[Offer]) -> None:
    first, _ = in_namespace(merge(one, Precedence.FIRST).winners.values(), "one")
    second, _ = in_namespace(merge(other, Precedence.FIRST).winners.values(), "two")
    assert not merge([*first, *second], Precedence.NAMESPACE).shadowed


@given(st.lists(st.sampled_from(IDS), unique=True), st.sets(st.sampled_from(IDS)), st.sets(st.sampled_from(IDS)))
def test_exactly_the_broken_ones_are_kept_in_the_old_order(ids: list[str], gone: set[str], broken: set[str]) -> None:
    before = [offer(skill_id, f"{skill_id}/SKILL.md").skill for skill_id in ids]
    now = tuple(skill for skill in before if skill.id not in gone)
    findings = tuple(
        Diagnostic("broken", Severity.ERROR, "x", "y", None, Location(f"{skill_id}/SKILL.md")) for skill_id in broken
    )
    kept, told = last_good_skills(before, Loaded(now, findings))
    assert [skill.id for skill in kept] == [skill_id for skill_id in ids if skill_id not in gone - broken]
    assert {finding.skill for finding in told} == gone & broken & set(ids)
