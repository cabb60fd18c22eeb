"""Rules of entity context made in code: what makes no sense is refused, with what to write."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from skillweave.entities import ContextRules, Hop, IdPattern, SectionPart, SectionRule
from skillweave.errors import InvalidContext, InvalidValue
from skillweave.knowledge.findings import context_findings, entity_rules_in
from skillweave.knowledge.rules import MOST_HOPS, MOST_PARTS, context_rules_in
from skillweave.registry import Snapshot
from tests.fleet import OWNER, RULES
from tests.skills import make_skill

LINE = ("{name}",)


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: SectionPart(()), "render"),
        (lambda: SectionPart(LINE, path=(Hop("A"),) * (MOST_HOPS + 1)), "path"),
        (lambda: SectionPart(LINE, last=1), "last"),
        (lambda: SectionPart(LINE, limit=1001), "limit"),
        (lambda: SectionPart(LINE, title="a\nb"), "title"),
        (lambda: SectionPart(LINE, title="{a}"), "title"),
        (lambda: SectionPart(LINE, where={"flag": {"eq": 1}}), "where"),
        (lambda: SectionPart(LINE, where={"node.flag": "NO"}), "where"),
        (lambda: SectionPart(LINE, where={"edge.days": {"eq": 1}}), "where"),
        (lambda: SectionPart(LINE, order="item.a"), "order"),
        (lambda: SectionPart(LINE, each="item.a"), "each"),
        (lambda: SectionPart(("{from.name}",)), "render"),
        (lambda: SectionRule("", (SectionPart(LINE),)), "sections"),
        (lambda: SectionRule("a", ()), "sections"),
        (lambda: SectionRule("a", (SectionPart(LINE),) * (MOST_PARTS + 1)), "sections"),
        (lambda: ContextRules(sections=(OWNER, OWNER)), "sections"),
        (lambda: ContextRules(sections=(OWNER,), tags={"a": ("owners",)}), "tags"),
        (lambda: ContextRules(otherwise=("owner",)), "otherwise"),
    ],
)
def test_what_makes_no_sense_names_the_key(make: Callable[[], Any], key: str) -> None:
    with pytest.raises(InvalidContext) as refused:
        make()
    assert refused.value.key == key
    assert refused.value.fix


@pytest.mark.parametrize("make", [lambda: Hop(""), lambda: Hop("a", "up"), lambda: IdPattern("")])  # type: ignore[arg-type]
def test_a_value_of_another_kind_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidValue):
        make()


def test_rules_come_back_out_of_a_snapshot() -> None:
    assert context_rules_in(Snapshot()) is None
    assert context_rules_in(replace(Snapshot(), context=RULES.to_dict())) == RULES


def test_rules_that_cannot_be_read_are_none_and_a_finding() -> None:
    snapshot = replace(Snapshot(), context={"sections": 7})
    found = entity_rules_in(snapshot)
    assert found.rules == ContextRules()
    assert [one.code for one in context_findings(snapshot, found, entities=True)] == ["context-unreadable"]


def test_tags_that_no_rule_lists_are_named_with_their_skills() -> None:
    skills = {name: make_skill(name, domain_tags=["mooring", "galley"]) for name in "abcdefg"}
    snapshot = Snapshot(skills, context=RULES.to_dict())
    (found,) = context_findings(snapshot, entity_rules_in(snapshot), entities=True)
    assert found.code == "context-unknown-tag"
    assert "does not list 'galley', a domain tag of a, b, c, d, e and 2 more" in found.message
    assert "it shows the sections entity" in found.fix
