from skillweave import Skill, ToolRules
from skillweave.graph import Declared, Entry, GraphSkill
from skillweave.graph.declared import graph_skill, with_loaded_skills
from skillweave.skills import SkillText


def _skill(skill_id: str, **rest: object) -> Skill:
    return Skill(id=skill_id, name=skill_id, description="What it does", **rest)  # type: ignore[arg-type]


REFUND = _skill(
    "refund",
    tools=ToolRules(allowed=("lookup_order", "Bash(git add:*)", "Bash(git log:*)")),
    text=SkillText(instructions="PredicateContext first.", steps=("Call lookup_order.", "Pay.")),
)


def test_a_graph_knows_a_skill_by_its_id_description_tools_and_text() -> None:
    assert graph_skill(REFUND) == GraphSkill(
        "refund", "What it does", ("lookup_order", "Bash"), "PredicateContext first.\nCall lookup_order.\nPay."
    )


def test_a_skill_that_says_nothing_of_tools_says_nothing_here() -> None:
    assert graph_skill(_skill("a")).tools is None
    assert graph_skill(_skill("a", tools=ToolRules(forbidden=("rm",)))).tools is None
    assert graph_skill(_skill("a", tools=ToolRules(allowed=()))).tools == ()


def test_what_a_graph_does_not_know_of_a_skill_is_filled_in_from_the_skill() -> None:
    (one,) = with_loaded_skills(Declared((GraphSkill("refund"),)), {"refund": REFUND}).skills
    assert one == graph_skill(REFUND)


def test_what_a_graph_knows_itself_stays() -> None:
    known = GraphSkill("refund", "Gives money back", (), "Do it.")
    assert with_loaded_skills(Declared((known,)), {"refund": REFUND}).skills == (known,)


def test_a_skill_that_is_nowhere_else_stays_as_it_is() -> None:
    assert with_loaded_skills(Declared((GraphSkill("a"),)), {"refund": REFUND}).skills == (GraphSkill("a"),)


def test_no_skill_is_added_and_nothing_else_changes() -> None:
    declared = Declared((GraphSkill("a"),), (Entry("a"),), never_routes=("x",), listed=False)
    assert with_loaded_skills(declared, {"refund": REFUND}) == declared
