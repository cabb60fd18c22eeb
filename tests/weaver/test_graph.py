"""A skill graph beneath a conversation: what the cursor engages, offers and refuses (spec 3.2 and 3.3)."""

from collections.abc import Awaitable, Callable

import pytest

from skillweave import (
    CatalogMode,
    Injection,
    MemoryStore,
    Message,
    Outcome,
    Placement,
    Role,
    Settings,
    Skill,
    Status,
    ToolResult,
    ToolRules,
    Turn,
    Weaver,
)
from skillweave.graph import (
    ANY,
    By,
    Cursor,
    Declared,
    Entry,
    EntryPick,
    GraphSkill,
    Limits,
    Predicate,
    Route,
    SkillGraph,
    decide,
)
from skillweave.ledger import FallbackKind, Writes
from skillweave.state.state import skill_key
from skillweave.tools import SkillTools, SpawnPlan
from skillweave.turns import Read
from skillweave.weaver.tools import TOOLS
from skillweave_testing import Recorder
from tests.graphs import graph_of, on, weaver_over
from tests.skills import make_skill

GRAPH = graph_of(
    "triage",
    "refund",
    "escalate",
    "tone",
    entries=[
        Entry("triage", on("refund", "charged")),
        Entry("tone", on("rude"), base=True),
    ],
    routes=[
        Route("triage", "refund", on_tool="lookup"),
        Route("triage", "escalate"),
        Route(ANY, "escalate", on("manager")),
    ],
)
LOOKED_UP = (ToolResult("lookup", "{}"),)


def skills(**changes: Skill) -> list[Skill]:
    plain = {
        "triage": make_skill("triage", tools=ToolRules(allowed=("lookup",))),
        "refund": make_skill("refund", keywords=["money"], tools=ToolRules(allowed=("pay",))),
        "escalate": make_skill("escalate", keywords=["angry"]),
        "tone": make_skill("tone"),
        "style": make_skill("style", keywords=["style"]),
    }
    return list({**plain, **changes}.values())


def outcomes(injection: Injection) -> dict[str, Outcome]:
    return {decision.skill_id: decision.outcome for decision in injection.decisions}


def reason(injection: Injection, skill_id: str) -> str:
    return next(decision.reason for decision in injection.decisions if decision.skill_id == skill_id)


def engaged(weaver: Weaver) -> list[str]:
    return [entry.skill_id for entry in weaver.sync.ledger.state("c").engaged]


def cursor(weaver: Weaver) -> str | None:
    found = weaver.sync.ledger.state("c").cursor
    return None if found is None else found.skill


@pytest.fixture
def weaver() -> Weaver:
    return weaver_over(GRAPH, skills())


@pytest.fixture
def at_triage(weaver: Weaver) -> Weaver:
    weaver.sync.weave("I was charged twice", conversation="c")
    return weaver


# -- the cursor in the State ------------------------------------------------------------------------------------------


async def test_the_entry_whose_condition_holds_is_given(weaver: Weaver) -> None:
    injection = await weaver.weave("I was charged twice", conversation="c")
    assert injection.skills == ("triage",)
    assert injection.move is not None
    assert injection.move.by is By.ENTRY
    assert outcomes(injection)["triage"] is Outcome.INJECTED


async def test_the_cursor_is_part_of_the_state(weaver: Weaver) -> None:
    await weaver.weave("I was charged twice", conversation="c", turn_id="t1")
    state = await weaver.ledger.state("c")
    assert state.cursor is not None
    assert (state.cursor.skill, dict(state.cursor.visits), state.cursor.last_turn) == ("triage", {"triage": 1}, "t1")
    assert state.cursor.digest == GRAPH.digest


async def test_moves_happen_before_selection(at_triage: Weaver) -> None:
    injection = await at_triage.weave("my money", conversation="c", results=LOOKED_UP)
    decision = next(decision for decision in injection.decisions if decision.skill_id == "refund")
    assert (decision.outcome, decision.matcher) == (Outcome.INJECTED, "graph")
    assert {"move", "keyword"} <= {piece.kind for piece in decision.evidence}


async def test_a_conversation_without_a_begin_gives_no_wired_skill(weaver: Weaver) -> None:
    injection = await weaver.weave("my money", conversation="c")
    assert injection.skills == ()
    assert await cursor_of(weaver) is None


async def cursor_of(weaver: Weaver) -> Cursor | None:
    return (await weaver.ledger.state("c")).cursor


async def test_a_repeated_turn_id_repeats_its_move_and_its_messages(at_triage: Weaver) -> None:
    turn = Turn("t2", "c", Message(Role.USER, "and now?"), results=LOOKED_UP)
    first = await at_triage.weave(turn)
    before = await at_triage.ledger.state("c")
    again = await at_triage.weave(turn)
    assert (again.move, again.messages) == (first.move, first.messages)
    assert await at_triage.ledger.state("c") == before


class _Overtaken(MemoryStore):
    """A store in which `first` is stored just before the next swap, which is lost to it."""

    first: Callable[[], Awaitable[object]] | None = None
    lost = 0

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        first, self.first = self.first, None
        if first is not None:
            await first()
        done = await super().swap(conversation, expected_revision, writes, tenant=tenant)
        self.lost += not done
        return done


@pytest.mark.parametrize(
    "faster",
    [
        Turn("other", "c", Message(Role.USER, "style, please")),
        Turn("t2", "c", Message(Role.USER, "and now?"), results=LOOKED_UP),
    ],
    ids=["to another turn", "to itself in another process"],
)
async def test_a_turn_that_loses_a_race_moves_once(faster: Turn) -> None:
    store = _Overtaken()
    weaver, other = (weaver_over(GRAPH, skills(), store) for _ in range(2))
    await weaver.weave("I was charged twice", conversation="c")
    store.first = lambda: other.weave(faster)
    injection = await weaver.weave(Turn("t2", "c", Message(Role.USER, "and now?"), results=LOOKED_UP))
    found = await cursor_of(weaver)
    assert found is not None
    assert (store.lost, injection.move and injection.move.to) == (1, "refund")
    assert found.visits == {"triage": 1, "refund": 1}


async def test_a_preview_does_not_move(at_triage: Weaver) -> None:
    injection = await at_triage.preview("and now?", conversation="c", results=LOOKED_UP)
    assert injection.move is not None
    assert injection.move.to == "refund"
    assert (await cursor_of(at_triage) or Cursor("")).skill == "triage"


async def test_what_stands_between_two_turns_does_not_move(weaver: Weaver) -> None:
    always = graph_of("a", "b", entries=[Entry("a")], routes=[Route("a", "b", Predicate(lambda _: True))])
    weaver = weaver_over(always, [make_skill("a"), make_skill("b")])
    await weaver.weave("hello", conversation="c")
    await weaver.current_policy("c")
    assert (await cursor_of(weaver) or Cursor("")).skill == "a"


async def test_match_says_what_begins_a_conversation(weaver: Weaver) -> None:
    selection = await weaver.skills.match("I was charged, what a style", conversation="c")
    assert [candidate.skill_id for candidate in selection.chosen] == ["triage", "style"]


async def test_clearing_a_conversation_clears_its_cursor(at_triage: Weaver) -> None:
    await at_triage.ledger.clear("c")
    assert await cursor_of(at_triage) is None


async def test_without_a_graph_a_cursor_that_another_process_keeps_stays_as_it_is(at_triage: Weaver) -> None:
    other = weaver_over(None, skills(), at_triage.ledger.store)
    await other.weave("my money", conversation="c")
    assert (await cursor_of(at_triage) or Cursor("")).skill == "triage"


async def test_a_graph_that_lost_the_cursors_skill_starts_again_and_says_so(at_triage: Weaver) -> None:
    other = graph_of("refund", entries=[Entry("refund")])
    injection = await weaver_over(other, skills(), at_triage.ledger.store).weave("hello", conversation="c")
    assert injection.move is not None
    assert injection.move.to == "refund"
    assert "no longer in it" in injection.move.reason


async def test_a_graph_that_changed_elsewhere_keeps_the_cursor_and_says_so(at_triage: Weaver) -> None:
    other = graph_of("triage", "refund", entries=[Entry("refund")], routes=[Route("refund", "triage")])
    injection = await weaver_over(other, skills(), at_triage.ledger.store).weave("hello", conversation="c")
    assert injection.move is not None
    assert injection.move.to == "triage"
    assert "still in it" in injection.move.reason


# -- what is engaged --------------------------------------------------------------------------------------------------


def test_a_wired_skill_is_engaged_only_while_the_cursor_is_on_it(at_triage: Weaver) -> None:
    assert engaged(at_triage) == ["triage"]
    injection = at_triage.sync.weave("", conversation="c", role=Role.TOOL, results=LOOKED_UP)
    assert engaged(at_triage) == ["refund"]
    left = next(decision for decision in injection.decisions if decision.skill_id == "triage")
    assert (left.outcome, left.stage) == (Outcome.NOT_AT_CURSOR, "move")
    assert "`refund`" in left.reason


def test_a_wired_skill_is_engaged_while_the_cursor_is_on_a_skill_that_requires_it() -> None:
    needing = make_skill("triage", requires=["refund"])
    weaver = weaver_over(GRAPH, skills(triage=needing))
    injection = weaver.sync.weave("I was charged twice", conversation="c")
    assert set(injection.skills) == {"triage", "refund"}


def test_a_skill_outside_that_requires_a_wired_one_elsewhere_is_unmet(weaver: Weaver) -> None:
    weaver = weaver_over(GRAPH, skills(style=make_skill("style", keywords=["style"], requires=["refund"])))
    injection = weaver.sync.weave("I was charged, what a style", conversation="c")
    assert outcomes(injection)["style"] is Outcome.UNMET
    assert "`refund` applies only at its own place" in reason(injection, "style")


def test_the_cursors_skill_stays_engaged_however_long_nobody_mentions_it(at_triage: Weaver) -> None:
    for number in range(12):
        at_triage.sync.weave(f"word {number}", conversation="c", placement=Placement.CALL)
    assert engaged(at_triage) == ["triage"]


def test_a_base_entry_is_engaged_wherever_the_cursor_is(at_triage: Weaver) -> None:
    injection = at_triage.sync.weave("don't be rude", conversation="c")
    assert injection.skills == ("tone",)
    assert sorted(engaged(at_triage)) == ["tone", "triage"]


def test_a_base_entry_without_a_condition_is_engaged_from_the_first_turn() -> None:
    graph = graph_of("a", "tone", entries=[Entry("a"), Entry("tone", base=True)])
    injection = weaver_over(graph, [make_skill("a"), make_skill("tone")]).sync.weave("hello", conversation="c")
    assert set(injection.skills) == {"a", "tone"}


def test_a_phrase_that_must_start_nothing_starts_no_conditional_base_entry() -> None:
    graph = graph_of("tone", entries=[Entry("tone", on("rude"), base=True)], never_routes=("rude",))
    weaver = weaver_over(graph, [make_skill("tone")])
    assert weaver.sync.weave("Rude", conversation="c").skills == ()


def test_to_read_a_base_skill_is_no_step(at_triage: Weaver) -> None:
    assert not at_triage.sync.tools.read_skill("tone", conversation="c").failed
    assert (cursor(at_triage), sorted(engaged(at_triage))) == ("triage", ["tone", "triage"])


def test_matchers_run_over_base_entries_and_skills_outside_the_graph(at_triage: Weaver) -> None:
    injection = at_triage.sync.weave("what a style", conversation="c")
    assert injection.skills == ("style",)
    weaver = weaver_over(GRAPH, skills(tone=make_skill("tone", keywords=["shout"])), at_triage.ledger.store)
    assert weaver.sync.weave("don't shout, my money", conversation="c").skills == ("tone",)


def test_a_hit_on_a_wired_skill_elsewhere_is_not_at_cursor(at_triage: Weaver) -> None:
    injection = at_triage.sync.weave("my money", conversation="c")
    assert outcomes(injection)["refund"] is Outcome.NOT_AT_CURSOR
    assert "`triage`" in reason(injection, "refund")


def test_a_hit_on_the_cursors_own_skill_adds_its_evidence(at_triage: Weaver) -> None:
    at_triage.sync.weave("", conversation="c", role=Role.TOOL, results=LOOKED_UP)
    injection = at_triage.sync.weave("my money", conversation="c")
    decision = next(decision for decision in injection.decisions if decision.skill_id == "refund")
    assert "keyword" in {piece.kind for piece in decision.evidence}


def test_incompatible_skills_follow_one_another_at_the_cursor() -> None:
    weaver = weaver_over(GRAPH, skills(refund=make_skill("refund", excludes=["triage"])))
    weaver.sync.weave("I was charged twice", conversation="c")
    injection = weaver.sync.weave("", conversation="c", role=Role.TOOL, results=LOOKED_UP)
    assert injection.skills == ("refund",)


def test_a_raising_condition_never_empties_what_is_engaged() -> None:
    def fails(_: object) -> bool:
        raise LookupError("no such customer")

    graph = graph_of(
        "a",
        "b",
        entries=[Entry("a", Predicate(lambda look: look.context.user == "go"))],
        routes=[Route("a", "b", Predicate(fails))],
    )
    weaver = weaver_over(graph, [make_skill("a"), make_skill("b")])
    weaver.sync.weave("go", conversation="c")
    injection = weaver.sync.weave("now it fails", conversation="c")
    assert engaged(weaver) == ["a"]
    assert injection.move is not None
    assert [piece.kind for piece in injection.move.evidence] == ["raised"]


def test_a_base_entry_whose_condition_raises_counts_as_no_match_and_is_reported_in_every_turns_move() -> None:
    raising = Entry("tone", Predicate(lambda _: 1 / 0), base=True)
    graph = graph_of("a", "b", "tone", entries=[Entry("a"), raising], routes=[Route("a", "b", on_tool="t")])
    weaver = weaver_over(graph, [make_skill("a"), make_skill("b"), make_skill("tone")])
    for turn_id, results in (
        ("t1", ()),
        ("t2", ()),
        ("t3", (ToolResult("t", "ok"),)),
        ("t3", (ToolResult("t", "ok"),)),
    ):
        injection = weaver.sync.weave("hello", conversation="c", turn_id=turn_id, results=results)
        assert injection.move is not None
        raised = [piece.text for piece in injection.move.evidence if piece.kind == "raised"]
        assert len(raised) == 1
        assert raised[0].startswith("entry tone: ")
        assert raised[0].endswith("ZeroDivisionError")
    assert engaged(weaver) == ["b"]


def test_a_cursor_on_a_skill_that_is_not_loaded_is_told_and_harms_nothing() -> None:
    weaver = weaver_over(GRAPH, [one for one in skills() if one.id != "triage"])
    injection = weaver.sync.weave("I was charged twice", conversation="c")
    assert outcomes(injection)["triage"] is Outcome.UNKNOWN


def test_a_cursor_on_an_inactive_skill_gives_nothing_of_it() -> None:
    weaver = weaver_over(GRAPH, skills(triage=make_skill("triage", status=Status.DRAFT)))
    injection = weaver.sync.weave("I was charged twice", conversation="c")
    assert outcomes(injection)["triage"] is Outcome.INACTIVE


def test_disengaging_the_cursors_skill_begins_the_graph_again(at_triage: Weaver) -> None:
    at_triage.sync.ledger.disengage("c", "triage")
    assert cursor(at_triage) is None
    at_triage.sync.weave("no more", conversation="c")
    assert engaged(at_triage) == []


def test_a_replay_does_not_begin_again_what_was_disengaged_since(weaver: Weaver) -> None:
    turn = Turn("t1", "c", Message(Role.USER, "I was charged twice"))
    weaver.sync.weave(turn)
    weaver.sync.ledger.disengage("c", "triage")
    weaver.sync.weave(turn)
    assert engaged(weaver) == []


def test_a_text_that_stands_in_the_history_is_not_given_again_when_the_cursor_comes_back(at_triage: Weaver) -> None:
    at_triage.sync.weave("", conversation="c", role=Role.TOOL, results=LOOKED_UP)
    at_triage.sync.weave("get me a manager", conversation="c")
    injection = at_triage.sync.weave("go on", conversation="c", named=["triage"])
    assert injection.move is not None
    assert (injection.move.to, injection.skills) == ("triage", ())
    assert outcomes(injection)["triage"] is Outcome.ALREADY_PRESENT


def test_a_visit_limit_stops_the_run_and_what_is_engaged_stays() -> None:
    graph = graph_of(
        "a",
        "b",
        entries=[Entry("a")],
        routes=[Route("a", "b", on("b")), Route("b", "a", on("a"))],
        limits=Limits(visits=1),
    )
    weaver = weaver_over(graph, [make_skill("a"), make_skill("b")])
    weaver.sync.weave("x", conversation="c")
    weaver.sync.weave("b", conversation="c")
    injection = weaver.sync.weave("a", conversation="c")
    assert injection.move is not None
    assert (injection.move.by, injection.move.to) == (By.STOPPED, "b")
    assert engaged(weaver) == ["b"]


# -- tools ------------------------------------------------------------------------------------------------------------


def test_tools_of_skills_that_are_not_engaged_are_not_offered(at_triage: Weaver) -> None:
    standing = at_triage.variant(Settings(skill_tools=SkillTools.OFFERED)).sync.current_policy("c")
    assert standing.tools.offers(["lookup", "pay", "read_skill"]) == ("lookup", "read_skill")


def test_a_call_of_a_tool_from_elsewhere_is_denied_with_the_place(at_triage: Weaver) -> None:
    verdict = at_triage.sync.current_policy("c").tools.authorize("pay")
    assert "not allowed here: it belongs to `refund`, and the conversation is at `triage`" in verdict.message


def test_a_tool_that_skills_outside_the_graph_list_too_is_offered(weaver: Weaver) -> None:
    weaver = weaver_over(GRAPH, skills(style=make_skill("style", tools=ToolRules(allowed=("pay",)))))
    assert weaver.sync.weave("hello", conversation="c").tools.offers(["lookup", "pay"]) == ("pay",)


# -- picks and the gate -----------------------------------------------------------------------------------------------


def test_reading_a_reachable_skill_is_a_pick(at_triage: Weaver) -> None:
    answer = at_triage.sync.tools.read_skill("escalate", conversation="c")
    assert not answer.failed
    assert (cursor(at_triage), engaged(at_triage)) == ("escalate", ["escalate"])


def test_a_skill_select_marker_is_a_pick(at_triage: Weaver) -> None:
    transcript = [Message(Role.USER, "hm"), Message(Role.ASSISTANT, "SKILL_SELECT:escalate"), Message(Role.USER, "ok")]
    injection = at_triage.sync.weave("ok", conversation="c", transcript=transcript)
    assert injection.move is not None
    assert (injection.move.by, injection.move.to) == (By.PICK, "escalate")


def test_a_skill_select_marker_of_a_wired_skill_that_cannot_be_reached_is_refused(weaver: Weaver) -> None:
    weaver.sync.weave("get me a manager, I was charged", conversation="c")
    weaver.sync.tools.read_skill("escalate", conversation="c")
    said = [Message(Role.USER, "hm"), Message(Role.ASSISTANT, "SKILL_SELECT:refund"), Message(Role.USER, "ok")]
    injection = weaver.sync.weave("ok", conversation="c", transcript=said)
    assert outcomes(injection)["refund"] is Outcome.UNREACHABLE
    assert "'refund' cannot be reached from 'escalate'" in reason(injection, "refund")
    assert (cursor(weaver), engaged(weaver)) == ("escalate", ["escalate"])


def test_the_engine_refuses_a_read_of_a_wired_skill_that_cannot_be_reached(weaver: Weaver) -> None:
    weaver.sync.weave("get me a manager, I was charged", conversation="c")
    weaver.sync.tools.read_skill("escalate", conversation="c")
    answer = weaver.sync.tools.read_skill("refund", conversation="c")
    assert answer.failed
    assert answer.text == "refund: unreachable: 'refund' cannot be reached from 'escalate'; what can be is: triage"
    assert cursor(weaver) == "escalate"


def test_the_refusal_at_the_start_names_the_entries(weaver: Weaver) -> None:
    answer = weaver.sync.tools.read_skill("refund", conversation="c")
    assert "cannot be reached at the start of the skill graph; what can be is: triage" in answer.text


def test_a_read_of_a_skill_outside_the_graph_moves_nothing(at_triage: Weaver) -> None:
    assert not at_triage.sync.tools.read_skill("style", conversation="c").failed
    assert cursor(at_triage) == "triage"


def test_a_read_of_the_cursors_own_skill_is_answered(at_triage: Weaver) -> None:
    answer = at_triage.sync.tools.read_skill("triage", conversation="c")
    assert not answer.failed
    assert (cursor(at_triage), "already-present" in answer.text) == ("triage", True)


def test_a_read_fires_no_route(at_triage: Weaver) -> None:
    graph = graph_of("a", "b", entries=[Entry("a")], routes=[Route("a", "b", Predicate(lambda _: True))])
    weaver = weaver_over(graph, [make_skill("a"), make_skill("b"), make_skill("other")])
    weaver.sync.weave("hello", conversation="c")
    weaver.sync.tools.read_skill("other", conversation="c")
    assert cursor(weaver) == "a"


def test_a_read_between_a_turn_and_its_repetition_does_not_make_it_a_new_turn(at_triage: Weaver) -> None:
    turn = Turn("t2", "c", Message(Role.USER, "x"), results=LOOKED_UP)
    at_triage.sync.weave(turn)
    at_triage.sync.tools.read_skill("style", conversation="c")
    first = at_triage.sync.ledger.state("c").cursor
    at_triage.sync.weave(turn)
    assert at_triage.sync.ledger.state("c").cursor == first


def test_a_pick_that_a_route_overrules_is_answered_with_where_the_conversation_went(at_triage: Weaver) -> None:
    injection = at_triage.sync.weave("", conversation="c", role=Role.TOOL, results=LOOKED_UP, named=["escalate"])
    assert injection.move is not None
    assert injection.move.to == "refund"
    assert reason(injection, "escalate") == "the conversation goes to 'refund' first"


def test_an_unknown_pick_stays_an_unknown_skill(at_triage: Weaver) -> None:
    injection = at_triage.sync.weave("x", conversation="c", named=["zzz"])
    assert outcomes(injection)["zzz"] is Outcome.UNKNOWN
    assert injection.move is not None
    assert injection.move.losers == ()


def test_where_the_model_begins_nothing_is_engaged_before_it_reads(weaver: Weaver) -> None:
    graph = graph_of("a", "b", entries=[Entry("a"), Entry("b")], pick=EntryPick.READ)
    weaver = weaver_over(graph, [make_skill("a"), make_skill("b")])
    assert weaver.sync.weave("hello", conversation="c").skills == ()
    weaver.sync.tools.read_skill("b", conversation="c")
    assert cursor(weaver) == "b"


def test_the_ids_and_the_description_in_a_tools_schema_never_change_during_a_conversation(at_triage: Weaver) -> None:
    before = [tool.to_dict() for tool in TOOLS.values()]
    at_triage.sync.tools.read_skill("escalate", conversation="c")
    at_triage.sync.weave("don't be rude", conversation="c")
    assert [tool.to_dict() for tool in TOOLS.values()] == before
    (read,) = (tool for tool in before if tool["name"] == "read_skill")
    assert read["parameters"]["properties"]["skill_id"] == {"type": "string", "description": "The id of the skill."}


def test_what_can_be_reached_stands_behind_everything_that_is_cached(at_triage: Weaver) -> None:
    settings = Settings(catalog=CatalogMode.ALWAYS)
    weaver = weaver_over(GRAPH, skills(), at_triage.ledger.store, settings)
    one = weaver.sync.weave("x", conversation="c")
    other = weaver.sync.weave("", conversation="c", role=Role.TOOL, results=LOOKED_UP)
    assert one.fallback is not None
    assert one.fallback.kind is FallbackKind.REACHABLE
    assert one.fallback.text != (other.fallback.text if other.fallback else "")
    assert one.catalog == other.catalog
    assert (one.instructions, one.tail) == (one.catalog, one.fallback.text)


def test_the_reachable_line_names_the_place_and_the_way(at_triage: Weaver) -> None:
    injection = at_triage.sync.weave("x", conversation="c")
    assert injection.reachable == ("refund", "escalate")
    assert injection.fallback is not None
    assert injection.fallback.text == (
        "The current skill is triage. From here you may go to: refund, escalate (write SKILL_SELECT:<id>)."
    )


def test_no_reachable_line_stands_where_the_host_wants_no_catalog() -> None:
    weaver = weaver_over(GRAPH, skills(), settings=Settings(catalog=CatalogMode.NEVER))
    assert weaver.sync.weave("I was charged", conversation="c").fallback is None


# -- trees ------------------------------------------------------------------------------------------------------------


TREE = (
    SkillGraph.builder()
    .tree(decide({"keywords": ["bug"]}, "fix", decide({"keywords": ["doc"]}, "write", "talk")), default="talk")
    .build(check="off")
)
LEAVES = [
    make_skill("fix", tools=ToolRules(allowed=("edit",))),
    make_skill("write"),
    make_skill("talk"),
    make_skill("x"),
]


def test_exactly_one_leaf_is_engaged_each_turn() -> None:
    weaver = weaver_over(TREE, LEAVES)
    weaver.sync.weave("a bug", conversation="c")
    assert engaged(weaver) == ["fix"]
    weaver.sync.weave("the doc", conversation="c")
    assert engaged(weaver) == ["write"]
    weaver.sync.weave("hello", conversation="c")
    assert engaged(weaver) == ["talk"]
    assert cursor(weaver) is None


def test_each_turn_the_tree_is_walked_once() -> None:
    asked: list[object] = []
    tree = SkillGraph.builder().tree(decide(asked.append, "fix", "talk")).build("off")
    weaver = weaver_over(tree, LEAVES)
    for turns in (1, 2, 3):
        weaver.sync.weave("hello", conversation="c")
        assert len(asked) == turns


def test_a_raising_condition_of_a_tree_is_reported_also_where_the_model_picks_its_leaf() -> None:
    tree = SkillGraph.builder().tree(decide(lambda _: 1 / 0, "fix", "talk")).build("off")
    said = [Message(Role.USER, "hm"), Message(Role.ASSISTANT, "SKILL_SELECT:fix"), Message(Role.USER, "ok")]
    for transcript, leaf in (([Message(Role.USER, "ok")], "talk"), (said, "fix")):
        weaver = weaver_over(tree, LEAVES)
        injection = weaver.sync.weave("ok", conversation="c", transcript=transcript)
        assert engaged(weaver) == [leaf]
        assert injection.move is not None
        assert [piece.kind for piece in injection.move.evidence][1:] == ["raised"]


def test_between_two_turns_the_leaf_stays() -> None:
    weaver = weaver_over(TREE, LEAVES)
    weaver.sync.weave("a bug", conversation="c")
    assert weaver.sync.current_policy("c").tools.offers(["edit"]) == ("edit",)
    weaver.sync.tools.read_skill("x", conversation="c")
    assert engaged(weaver) == ["fix", "x"]


def test_every_leaf_of_a_tree_may_be_read() -> None:
    weaver = weaver_over(TREE, LEAVES)
    weaver.sync.weave("a bug", conversation="c")
    assert not weaver.sync.tools.read_skill("write", conversation="c").failed
    assert engaged(weaver) == ["write"]
    weaver.sync.weave("another bug", conversation="c")
    assert engaged(weaver) == ["fix"]


# -- observers, and the ledger away -----------------------------------------------------------------------------------


async def test_observers_are_told_of_each_step_once() -> None:
    recorder = Recorder()
    weaver = Weaver(weaver_over(None, skills()).skills.registry, MemoryStore(), graph=GRAPH, observers=[recorder])
    turn = Turn("t1", "c", Message(Role.USER, "I was charged"))
    await weaver.weave(turn)
    await weaver.weave(turn)
    await weaver.weave("x", conversation="c")
    moved = [event for event in recorder.events if event.event_type == "cursor.moved"]
    assert len({event.id for event in moved}) == 1
    assert moved[0].payload.to_dict() == {
        "from_skill": None,
        "to_skill": "triage",
        "by": "entry",
        "reason": "'triage' is the first entry whose condition holds",
        "visits": 1,
        "graph": GRAPH.digest,
    }


async def test_why_tells_what_led_to_a_skill(at_triage: Weaver) -> None:
    logged = await at_triage.why("c", "triage")
    assert [piece.kind for piece in logged[0].decision.evidence] == ["move", "keyword"]


def test_call_placement_shows_the_cursors_skill_in_every_call(weaver: Weaver) -> None:
    weaver.sync.weave("I was charged", conversation="c", placement=Placement.CALL)
    injection = weaver.sync.weave("x", conversation="c", placement=Placement.CALL)
    assert "How to do triage." in injection.instructions


def test_the_record_of_a_left_skill_stays(at_triage: Weaver) -> None:
    at_triage.sync.weave("", conversation="c", role=Role.TOOL, results=LOOKED_UP)
    assert at_triage.sync.ledger.state("c").record(skill_key("triage")) is not None


def test_a_graph_knows_its_skills_by_their_definitions() -> None:
    declared = Declared((GraphSkill("triage"),), (Entry("triage"),))
    known = SkillGraph.of(declared).with_skills({"triage": make_skill("triage", description="Begins.")})
    assert known.declared.skills[0].description == "Begins."
    assert known.digest == SkillGraph.of(declared).digest


def test_reads_are_gated_in_the_turn_form_too(at_triage: Weaver) -> None:
    turn = Turn("r", "c", Message(Role.TOOL, ""), reads=(Read("refund"),))
    assert outcomes(at_triage.sync.weave(turn))["refund"] is Outcome.INJECTED


# -- sub-agents -------------------------------------------------------------------------------------------------------


def test_a_spawned_agent_has_the_skills_of_its_plan_and_no_cursor(at_triage: Weaver) -> None:
    plan = at_triage.sync.composition.prepare_spawn({"task": "Pay it back", "skills": ["refund"]}, parent="c")
    assert isinstance(plan, SpawnPlan)
    injection = at_triage.sync.weave(plan.turn("Pay it back", "s1"))
    assert (injection.skills, injection.move) == (("refund",), None)
    assert at_triage.sync.ledger.state(plan.conversation).cursor is None


def test_a_spawned_agent_gets_no_tool_of_another_place_than_its_parents(at_triage: Weaver) -> None:
    plan = at_triage.sync.composition.prepare_spawn({"task": "Pay it back", "skills": ["refund"]}, parent="c")
    assert isinstance(plan, SpawnPlan)
    assert at_triage.sync.weave(plan.turn("Pay it back", "s1")).tools.offers(["pay", "lookup"]) == ()
