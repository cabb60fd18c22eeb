"""Where a turn stands: replays, what a person or the host keeps out, and the leaf between two calls."""

import pytest

from skillweave import (
    Budget,
    Checkpoint,
    Injection,
    Message,
    Outcome,
    Placement,
    Role,
    Settings,
    ToolRules,
    Turn,
    Weaver,
)
from skillweave.graph import By, Entry, EntryPick, Route, SkillGraph, decide
from skillweave.ledger import FallbackKind, Lifecycle
from skillweave.skills import Task, TaskRule, When
from tests.graphs import graph_of, on, weaver_over
from tests.skills import make_skill

GRAPH = graph_of("a", "b", entries=[Entry("a", on("go"))], routes=[Route("a", "b")])
TREE = (
    SkillGraph.builder()
    .tree(decide({"keywords": ["bug"]}, "fix", decide({"keywords": ["doc"]}, "write", "talk")), default="talk")
    .build(check="off")
)


def leaves(talk_requires: tuple[str, ...] = ()) -> Weaver:
    skills = [make_skill("fix"), make_skill("write"), make_skill("talk", requires=talk_requires), make_skill("x")]
    return weaver_over(TREE, skills)


def engaged(weaver: Weaver) -> list[str]:
    return [entry.skill_id for entry in weaver.sync.ledger.state("c").engaged]


def cursor(weaver: Weaver) -> str | None:
    found = weaver.sync.ledger.state("c").cursor
    return None if found is None else found.skill


def verdict(injection: Injection, skill_id: str) -> tuple[Outcome, str]:
    return next((one.outcome, one.reason) for one in injection.decisions if one.skill_id == skill_id)


def said(text: str) -> Turn:
    return Turn("t1", "c", Message(Role.USER, text))


# -- the same turn again ----------------------------------------------------------------------------------------------


def test_a_repeated_turn_in_a_tree_repeats_its_move() -> None:
    weaver = leaves()
    first, again = weaver.sync.weave(said("a bug")), weaver.sync.weave(said("a bug"))
    assert (again.move, again.messages) == (first.move, first.messages)


@pytest.mark.parametrize("pick", [EntryPick.READ, EntryPick.DECLARATION])
def test_a_repeated_turn_that_began_nothing_engages_its_base_entries_again(pick: EntryPick) -> None:
    entries = [Entry("a", on("go")), Entry("tone", on("rude"), base=True)]
    weaver = weaver_over(graph_of("a", "tone", entries=entries, pick=pick), [make_skill("a"), make_skill("tone")])
    first, state = weaver.sync.weave(said("rude")), weaver.sync.ledger.state("c")
    again = weaver.sync.weave(said("rude"))
    assert (again.move, again.messages, weaver.sync.ledger.state("c")) == (first.move, first.messages, state)
    assert engaged(weaver) == ["tone"]


def test_a_repeated_turn_that_began_nothing_repeats_its_reason() -> None:
    weaver = weaver_over(GRAPH, [make_skill("a"), make_skill("b"), make_skill("x", keywords=["hello"])])
    first, again = weaver.sync.weave(said("hello")), weaver.sync.weave(said("hello"))
    assert again.move == first.move


def test_a_replay_does_not_pick_again_what_was_disengaged_since() -> None:
    weaver = weaver_over(GRAPH, [make_skill("a"), make_skill("b")])
    turn = Turn("t1", "c", Message(Role.USER, "x"), named=("a",))
    weaver.sync.weave(turn)
    weaver.sync.ledger.disengage("c", "a")
    weaver.sync.weave(turn)
    assert (cursor(weaver), engaged(weaver)) == (None, [])


# -- the leaf between two calls ---------------------------------------------------------------------------------------


def test_between_two_turns_the_leaf_stays_though_one_that_it_requires_was_the_leaf_before() -> None:
    weaver = leaves(talk_requires=("write",))
    weaver.sync.weave("the doc", conversation="c")
    weaver.sync.weave("hello", conversation="c")
    weaver.sync.tools.read_skill("x", conversation="c")
    assert engaged(weaver) == ["write", "talk", "x"]


def test_a_leaf_that_was_engaged_before_there_was_a_graph_stays_between_two_turns() -> None:
    weaver = leaves()
    plain = weaver_over(None, [make_skill("fix")], weaver.ledger.store)
    plain.sync.weave("x", conversation="c", named=["fix"])
    weaver.sync.weave("a bug", conversation="c")
    weaver.sync.tools.read_skill("x", conversation="c")
    assert engaged(weaver) == ["fix", "x"]


# -- another version of the graph -------------------------------------------------------------------------------------


def test_a_skill_that_the_graph_engaged_leaves_when_the_graph_changed_and_lost_it() -> None:
    weaver = weaver_over(GRAPH, [make_skill("a"), make_skill("b")])
    weaver.sync.weave("go", conversation="c")
    other = graph_of("b", entries=[Entry("b")])
    weaver_over(other, [make_skill("a"), make_skill("b")], weaver.ledger.store).sync.weave("x", conversation="c")
    assert engaged(weaver) == ["b"]


def test_a_skill_that_the_host_named_too_stays_when_the_graph_lost_it() -> None:
    weaver = weaver_over(GRAPH, [make_skill("a"), make_skill("b")])
    weaver_over(None, [make_skill("a")], weaver.ledger.store).sync.weave("x", conversation="c", named=["a"])
    weaver.sync.weave("go", conversation="c")
    other = graph_of("b", entries=[Entry("b")])
    weaver_over(other, [make_skill("a"), make_skill("b")], weaver.ledger.store).sync.weave("x", conversation="c")
    assert engaged(weaver) == ["a", "b"]


# -- what nobody may open ---------------------------------------------------------------------------------------------


def test_a_skill_that_the_agent_is_not_granted_is_no_pick() -> None:
    skills = [make_skill("a"), make_skill("b")]
    weaver = weaver_over(GRAPH, skills, settings=Settings(granted=frozenset({"a"})))
    weaver.sync.weave("go", conversation="c")
    answer = weaver.sync.tools.read_skill("b", conversation="c")
    assert answer.text == "b: forbidden: `b` is not granted to this agent"
    assert (cursor(weaver), engaged(weaver)) == ("a", ["a"])


@pytest.fixture
def rejected() -> Weaver:
    """A conversation at `a`, from where `b` could be reached if nobody had rejected it."""
    weaver = weaver_over(GRAPH, [make_skill("a"), make_skill("b", checkpoints=(Checkpoint("sign-off"),))])
    weaver.sync.weave("go", conversation="c")
    weaver.sync.approvals.decide("c", "b", "sign-off", "rejected", by="Zoë")
    return weaver


def test_a_skill_that_a_person_rejected_is_no_pick(rejected: Weaver) -> None:
    injection = rejected.sync.weave("x", conversation="c", named=["b"])
    outcome, reason = verdict(injection, "b")
    assert (outcome, "rejected `b`" in reason) == (Outcome.FORBIDDEN, True)
    assert (cursor(rejected), engaged(rejected)) == ("a", ["a"])


def test_a_skill_that_a_person_rejected_is_not_said_to_be_reachable(rejected: Weaver) -> None:
    injection = rejected.sync.weave("x", conversation="c")
    assert (injection.reachable, injection.fallback) == ((), None)


def test_after_another_verdict_the_rejected_skill_may_be_opened(rejected: Weaver) -> None:
    rejected.sync.approvals.reconsider("c", "b", "sign-off")
    assert rejected.sync.weave("x", conversation="c", named=["b"]).reachable == ("a",)
    assert cursor(rejected) == "b"


# -- the cursor's skill among others ----------------------------------------------------------------------------------


def test_a_task_rule_that_cannot_be_met_does_not_keep_the_cursors_skill_out() -> None:
    rule = TaskRule(When(coding=True), ("a", "x"))
    settings = Settings(granted=frozenset({"a", "b"}), task_rules=(rule,))
    weaver = weaver_over(GRAPH, [make_skill("a"), make_skill("b"), make_skill("x")], settings=settings)
    assert weaver.sync.weave("go", conversation="c", task=Task(coding=True)).skills == ("a",)


@pytest.mark.parametrize("placement", Placement)
def test_the_cursors_skill_ranks_first_in_the_budget(placement: Placement) -> None:
    long = "word " * 300
    skills = [make_skill("a", instructions=long), make_skill("x", instructions=long, keywords=["pin"])]
    settings = Settings(budget=Budget(total=400), lifecycles={"x": Lifecycle.PINNED})
    injection = weaver_over(GRAPH, skills, settings=settings).sync.weave(
        "go pin", conversation="c", placement=placement
    )
    assert verdict(injection, "a")[0] is Outcome.INJECTED
    assert verdict(injection, "x")[0] is Outcome.OVER_BUDGET


def test_a_tool_of_a_skill_that_cannot_be_engaged_is_denied_with_that_reason() -> None:
    skills = [
        make_skill("a", excludes=["x"], tools=ToolRules(allowed=("pay",))),
        make_skill("b"),
        make_skill("x", keywords=["first"]),
    ]
    weaver = weaver_over(GRAPH, skills)
    weaver.sync.weave("first", conversation="c")
    injection = weaver.sync.weave("go", conversation="c")
    assert injection.move is not None
    assert injection.move.by is By.ENTRY
    assert verdict(injection, "a")[0] is Outcome.CONFLICT
    message = injection.tools.authorize("pay").message
    assert "the conversation is at `a` in the skill graph, where its skill cannot be engaged now" in message


def test_where_the_model_begins_it_is_told_what_it_may_begin_with() -> None:
    graph = graph_of("a", "b", entries=[Entry("a"), Entry("b")], pick=EntryPick.READ)
    fallback = weaver_over(graph, [make_skill("a"), make_skill("b")]).sync.weave("hello", conversation="c").fallback
    assert fallback is not None
    assert fallback.kind is FallbackKind.REACHABLE
    assert "No skill has begun yet. From here you may go to: a, b" in fallback.text
