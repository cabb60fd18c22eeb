import pytest

from skillweave import Severity, Skill
from skillweave.errors import DuplicateSkill
from skillweave.registry import Defined, Precedence
from skillweave.registry.merging import Merged, add_registered, in_namespace, merge
from skillweave.registry.snapshot import Offer
from skillweave.skills import Origin, Relation, RelationKind


def offer(skill_id: str, place: str, version: str | None = None, digest: str = "") -> Offer:
    skill = Skill(skill_id, skill_id, place, version=version, digest=digest, origin=Origin("source", place))
    return Offer(skill, Defined(skill), skill)


def descriptions(merged: Merged) -> dict[str, str]:
    return {skill_id: winner.skill.description for skill_id, winner in merged.winners.items()}


@pytest.mark.parametrize(
    ("precedence", "winner", "losers"),
    [
        (Precedence.FIRST, "one", ["two", "three"]),
        (Precedence.LAST, "three", ["one", "two"]),
        (Precedence.NAMESPACE, "one", ["two", "three"]),
    ],
)
def test_one_wins_and_the_others_stay_visible(precedence: Precedence, winner: str, losers: list[str]) -> None:
    merged = merge([offer("a", place) for place in ("one", "two", "three")], precedence)
    assert descriptions(merged) == {"a": winner}
    assert [skill.description for skill in merged.shadowed] == losers


def test_every_loser_is_a_warning_that_names_both_places_and_the_winner() -> None:
    merged = merge([offer("a", place) for place in ("one", "two", "three")], Precedence.LAST)
    assert [str(finding) for finding in merged.diagnostics] == [
        (
            "one: warning: skill 'a' of one is shadowed by the one of three [shadowed]. "
            "rename or remove one of the two, or give their sources namespaces"
        ),
        (
            "two: warning: skill 'a' of two is shadowed by the one of three [shadowed]. "
            "rename or remove one of the two, or give their sources namespaces"
        ),
    ]


def test_ids_keep_the_order_in_which_they_first_came_up() -> None:
    offers = [offer("a", "1"), offer("b", "1"), offer("a", "2"), offer("c", "2"), offer("b", "2")]
    for precedence in (Precedence.FIRST, Precedence.LAST):
        assert list(merge(offers, precedence).winners) == ["a", "b", "c"]


def test_a_clash_is_an_error_that_names_both_places() -> None:
    with pytest.raises(DuplicateSkill, match="'a' comes from one and from two"):
        merge([offer("a", "one"), offer("a", "two")], Precedence.ERROR)


@pytest.mark.parametrize(
    ("loser", "winner", "said"),
    [
        ("2.0.0", "1.10.0", "although it is the newer version (2.0.0, not 1.10.0)"),
        ("1.9", "1.10", ""),
        ("1.0.0", "1.0.0", ""),
        ("monday", "tuesday", "no rule orders their versions 'monday' and 'tuesday'"),
        (None, "1.0.0", ""),
    ],
)
def test_it_is_said_when_the_shadowed_one_is_the_newer(loser: str | None, winner: str, said: str) -> None:
    (finding,) = merge([offer("a", "one", winner), offer("a", "two", loser)], Precedence.FIRST).diagnostics
    assert finding.message.startswith("skill 'a' of two is shadowed by the one of one")
    assert finding.message.endswith(said)
    assert ("newer" in finding.message or "orders" in finding.message) == bool(said)


def test_an_equal_copy_is_no_cause_for_a_warning() -> None:
    (finding,) = merge([offer("a", "one", digest="d"), offer("a", "two", digest="d")], Precedence.FIRST).diagnostics
    assert finding.severity is Severity.INFO


def test_a_hidden_skill_is_gone_with_all_that_is_said_about_it() -> None:
    merged = merge([offer("a", "one"), offer("a", "two"), offer("b", "one")], Precedence.FIRST)
    shown = add_registered(merged, [], frozenset({"a"}), Precedence.FIRST)
    assert (list(shown.winners), shown.shadowed, shown.diagnostics) == (["b"], (), ())


def test_what_lies_over_the_sources_wins_under_any_precedence_but_error() -> None:
    merged = merge([offer("a", "one")], Precedence.FIRST)
    for precedence in (Precedence.FIRST, Precedence.LAST, Precedence.NAMESPACE):
        shown = add_registered(merged, [offer("a", "code")], frozenset(), precedence)
        assert descriptions(shown) == {"a": "code"}
        assert [skill.description for skill in shown.shadowed] == ["one"]
    with pytest.raises(DuplicateSkill):
        add_registered(merged, [offer("a", "code")], frozenset(), Precedence.ERROR)


def test_a_namespace_is_made_an_id_and_stands_before_every_id() -> None:
    given, findings = in_namespace([offer("a", "one")], "my org.io")
    assert [one.skill.id for one in given] == ["my-org-io__a"]
    assert given[0].given.id == "a"
    assert findings == []


def test_relations_inside_a_namespace_follow_and_others_stay() -> None:
    relations = tuple(Relation(RelationKind.REQUIRES, target) for target in ("b", "elsewhere"))
    owner = Skill("a", "A", "x", relations=relations)
    given, _ = in_namespace([Offer(owner, Defined(owner), owner), offer("b", "one")], "org")
    assert given[0].skill.requires() == ("org__b", "elsewhere")


def test_an_id_that_becomes_too_long_is_left_out_and_reported() -> None:
    given, findings = in_namespace([offer("a" * 96, "one"), offer("a" * 95, "one")], "org")
    assert [len(one.skill.id) for one in given] == [100]
    assert [(finding.code, finding.severity) for finding in findings] == [("id-too-long", Severity.ERROR)]
