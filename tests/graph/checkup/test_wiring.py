import pytest

from skillweave.graph import ANY, Decide, Declared, Entry, GraphSkill, Limits, Route
from tests.graph.checkup.graphs import codes, graph, only, problems, words

SKILLS = ("triage", "refund")


@pytest.mark.parametrize(
    ("declared", "skill", "from_", "to"),
    [
        (graph(Entry("triage"), Entry("refnd"), skills=SKILLS), "refnd", None, None),
        (graph(Entry("triage"), Route("triage", "refnd"), skills=SKILLS), "refnd", "triage", "refnd"),
        (graph(Entry("triage"), Route("refnd", "refund"), skills=SKILLS), "refnd", "refnd", "refund"),
        (graph(Entry("triage"), Route(ANY, "refnd"), skills=SKILLS), "refnd", ANY, "refnd"),
        (graph(Entry("triage"), limits=Limits(visits_of={"refnd": 2}), skills=SKILLS), "refnd", None, None),
        (Declared(skills=tuple(map(GraphSkill, SKILLS)), tree="refnd"), "refnd", None, None),
        (Declared(skills=tuple(map(GraphSkill, SKILLS)), tree="refund", default="refnd"), "refnd", None, None),
    ],
    ids=["entry", "to", "from", "any", "limit", "leaf", "default"],
)
def test_a_name_that_is_not_among_the_listed_skills_is_unknown_skill(
    declared: Declared, skill: str, from_: str | None, to: str | None
) -> None:
    problem = only(declared, "unknown-skill")
    assert (problem.skill, problem.from_, problem.to) == (skill, from_, to)
    assert problem.fix == "Write `refund`."


def test_every_place_that_names_an_unknown_skill_is_a_finding_of_its_own() -> None:
    declared = graph(Entry("x"), Route("x", "triage"), Route("triage", "x"), skills=SKILLS)
    assert [problem.skill for problem in problems(declared, "unknown-skill")] == ["x", "x", "x"]


def test_an_unknown_skill_like_no_other_is_to_be_added_or_removed() -> None:
    problem = only(graph(Entry("zzz"), skills=SKILLS), "unknown-skill")
    assert problem.fix == "Add `zzz` to the skills, or remove what names it."


def test_without_a_list_of_skills_every_name_is_a_skill() -> None:
    declared = graph(Entry("triage"), Route("triage", "refund"), skills=(), listed=False)
    assert "unknown-skill" not in codes(declared)


def test_any_is_no_skill_where_a_route_leads_to() -> None:
    declared = graph(Entry("triage"), Route("triage", ANY), listed=False)
    assert only(declared, "unknown-skill").to == ANY


def test_any_where_a_route_comes_from_is_no_unknown_skill() -> None:
    assert "unknown-skill" not in codes(graph(Entry("triage"), Route(ANY, "refund"), skills=SKILLS))


def test_a_graph_without_entries_is_no_entry() -> None:
    problem = only(graph(Route("triage", "refund")), "no-entry")
    assert (problem.skill, problem.from_, problem.to) == (None, None, None)


def test_a_graph_with_an_entry_or_a_tree_is_not_no_entry() -> None:
    assert "no-entry" not in codes(graph(Entry("triage")))
    assert "no-entry" not in codes(Declared(skills=(GraphSkill("a"),), tree=Decide(words("x"), "a", "a")))


def test_names_of_any_length_and_letters_make_short_one_line_messages() -> None:
    odd = "x\ny" * 10_000
    problem = only(graph(Entry(odd), skills=SKILLS), "unknown-skill")
    assert len(problem.message) < 200
    assert problem.message.isprintable()
    assert problem.skill == odd


def test_many_different_unknown_names_are_not_all_searched_for_what_they_may_mean() -> None:
    declared = graph(*(Entry(f"refund{number}") for number in range(30)), skills=SKILLS)
    fixes = [problem.fix for problem in problems(declared, "unknown-skill")]
    assert fixes[0] == "Write `refund`."
    assert fixes[-1].startswith("Add `refund29`")
