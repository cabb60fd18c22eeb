import pytest

from skillweave.errors import InvalidGraph
from skillweave.graph import (
    ANY,
    AllOf,
    Condition,
    Decide,
    Declared,
    Entry,
    HistoryMin,
    Keywords,
    Regex,
    Route,
    UserContains,
)
from skillweave.graph.compiled import compile_lexicon, conditions_of, decisions_of
from skillweave.graph.conditions import expression, phrases_of, spaced
from skillweave.graph.declared import TreeNode
from skillweave.text.search import MatchMode

A, B, C, D = (Keywords((word,)) for word in "abcd")


def _declared(*conditions: Condition) -> Declared:
    return Declared(entries=tuple(Entry("a", condition) for condition in conditions))


def test_conditions_come_from_entries_then_routes_then_the_tree_from_its_root() -> None:
    tree = Decide(A, Decide(B, "x", "y"), Decide(C, "x", "y"))
    entries = (Entry("a"), Entry("a", AllOf((B, C))))
    routes = (Route("a", "b"), Route(ANY, "b", D))
    assert list(conditions_of(Declared(entries=entries, routes=routes))) == [B, C, D]
    assert list(conditions_of(Declared(tree=tree))) == [A, B, C]


def test_decisions_are_walked_depth_first_without_recursion() -> None:
    tree: TreeNode = "leaf"
    for number in range(50_000):
        tree = Decide(HistoryMin(number), tree, "other")
    found = [decision.condition for decision in decisions_of(tree)]
    assert found == [HistoryMin(number) for number in reversed(range(50_000))]


def test_a_phrase_that_several_conditions_look_for_has_one_number() -> None:
    lexicon = compile_lexicon(_declared(Keywords(("Refund", "charge")), Keywords(("refund",))))
    (first, _), (second,) = lexicon.sought.values()
    assert first[0] == second[0]


def test_a_number_keeps_the_word_as_it_was_declared() -> None:
    lexicon = compile_lexicon(_declared(Keywords(("Refund",))))
    assert [word for ((_, word),) in lexicon.sought.values()] == ["Refund"]


def test_the_same_text_as_a_word_and_inside_words_is_two_phrases() -> None:
    assert list(phrases_of(Keywords(("a",)))) != list(phrases_of(UserContains("a")))


def test_a_keyword_is_folded_and_its_white_space_is_one_space() -> None:
    assert list(phrases_of(Keywords(("  Order\n  STATUS ",)))) == [("order status", MatchMode.WORD)]
    assert spaced(" Straße\t x ") == "strasse x"


def test_every_expression_of_the_graph_is_compiled_those_of_tools_too() -> None:
    condition, tool = Regex("refund"), Regex("^look", "i")
    lexicon = compile_lexicon(Declared(routes=(Route("a", "b", condition, tool),)))
    assert set(lexicon.patterns) == {condition, tool}


@pytest.mark.parametrize("broken", [Regex("("), Regex("(?=a)"), Regex("a{1000}{1000}"), Regex("\ud800")])
def test_an_expression_that_cannot_be_searched_in_linear_time_is_refused_with_the_remedy(broken: Regex) -> None:
    for declared in (
        _declared(broken),
        _declared(AllOf((broken,))),
        Declared(routes=(Route("a", "b", on_tool=broken),)),
    ):
        with pytest.raises(InvalidGraph, match="cannot be used"):
            compile_lexicon(declared)


def test_an_expression_of_a_tree_is_compiled_and_refused_as_well() -> None:
    assert set(compile_lexicon(Declared(tree=Decide(Regex("x"), "a", "b"))).patterns) == {Regex("x")}
    with pytest.raises(InvalidGraph, match="cannot be used"):
        compile_lexicon(Declared(tree=Decide(Regex("("), "a", "b")))


@pytest.mark.parametrize(
    "condition",
    [
        Keywords(()),
        Keywords(("",)),
        Keywords((" \u3000\n",)),
        Keywords(("refund", "")),
        Keywords(["refund"]),  # type: ignore[arg-type]
        Keywords((3,)),  # type: ignore[arg-type]
        UserContains(""),
        UserContains(" "),
        UserContains(None),  # type: ignore[arg-type]
    ],
)
def test_phrases_that_nothing_could_match_are_refused(condition: Condition) -> None:
    with pytest.raises(InvalidGraph, match="give"):
        compile_lexicon(_declared(condition))


@pytest.mark.parametrize("odd", [lambda look: True, "refund", {"keywords": ["refund"]}, 3])
def test_what_is_no_condition_is_refused_when_the_graph_is_built(odd: object) -> None:
    with pytest.raises(InvalidGraph, match=r"Predicate\(code\)"):
        compile_lexicon(_declared(odd))  # type: ignore[arg-type]


def test_letter_case_counts_in_an_expression_unless_its_flag_says_otherwise() -> None:
    assert expression(Regex("Refund")).search(b"refund") is None
    assert expression(Regex("Refund", "i")).search(b"refund") is not None


def test_the_flag_m_anchors_at_every_line_and_the_flag_s_lets_a_dot_be_a_line_break() -> None:
    assert expression(Regex("^b")).search(b"a\nb") is None
    assert expression(Regex("^b", "m")).search(b"a\nb") is not None
    assert expression(Regex("a.b")).search(b"a\nb") is None
    assert expression(Regex("a.b", "s")).search(b"a\nb") is not None


def test_the_flag_u_changes_nothing() -> None:
    assert expression(Regex("a", "u")).search(b"a") is not None
    assert expression(Regex("A", "u")).search(b"a") is None
