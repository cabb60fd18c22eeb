"""A conversation in a skill graph: whatever happens in whatever order, what is engaged is what the cursor says."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from skillweave import Injection, MemoryStore, Message, Placement, Role, Skill, State, ToolResult, ToolRules, Turn
from skillweave.graph import ANY, Cursor, Entry, EntryPick, Limits, Route, SkillGraph, decide
from skillweave.turns import Read
from tests.depth import examples
from tests.graphs import graph_of, on, weaver_over
from tests.skills import make_skill

RUNS = 20
WORDS = ("alpha", "gamma", "home", "tone", "free", "hello")
NEEDS = {"b": "aide", "talk": "write"}
FLAT = graph_of(
    "a",
    "b",
    "c",
    "aide",
    "tone",
    entries=[Entry("a", on("alpha")), Entry("tone", on("tone"), base=True)],
    routes=[
        Route("a", "b", on_tool="look"),
        Route("b", "c", on("gamma")),
        Route("c", "c", on_tool="look", on_status=("failure",)),
        Route("c", "aide"),
        Route(ANY, "a", on("home")),
    ],
    limits=Limits(all_visits=12),
)
READ = SkillGraph.of(replace(FLAT.declared, pick=EntryPick.READ), check="off")
TREE = (
    SkillGraph.builder()
    .tree(decide({"keywords": ["alpha"]}, "fix", decide({"keywords": ["gamma"]}, "write", "talk")), default="talk")
    .build(check="off")
)
BASE = {"tone"}
SKILLS = ("a", "b", "c", "aide", "tone", "fix", "write", "talk", "free")


class InGraph(RuleBasedStateMachine):
    """Two processes over one store; `expected` is where the pure graph says that the conversation is."""

    graph = FLAT

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.editions = dict.fromkeys(SKILLS, 1)
        store = MemoryStore()
        skills = [self.skill(one) for one in SKILLS]
        self.weavers = [weaver_over(self.graph, skills, store), weaver_over(self.graph, skills, store)]
        self.expected: Cursor | None = None
        self.given: list[str] = []
        self.last: tuple[Turn, Injection] | None = None
        self.turns = 0
        self.left = False

    def teardown(self) -> None:
        self.runner.close()

    def skill(self, skill_id: str) -> Skill:
        return make_skill(
            skill_id,
            keywords=[skill_id] if skill_id == "free" else ["hello"],
            instructions=f"How to do {skill_id}, edition {self.editions[skill_id]}.",
            requires=[NEEDS[skill_id]] if skill_id in NEEDS else [],
            tools=ToolRules(allowed=(f"tool-{skill_id}",)),
        )

    # -- what happens -------------------------------------------------------------------------------------------------

    @rule(
        word=st.sampled_from(WORDS),
        looked=st.sampled_from(["", "success", "failure"]),
        named=st.sampled_from([(), (), ("a",), ("c",), ("aide",), ("fix",), ("free",)]),
        role=st.sampled_from([Role.USER, Role.USER, Role.TOOL]),
        placement=st.sampled_from(Placement),
        replica=st.integers(0, 1),
    )
    def a_turn(
        self, word: str, looked: str, named: tuple[str, ...], role: Role, placement: Placement, replica: int
    ) -> None:
        results = (ToolResult("look", "{}", looked),) if looked else ()
        turn = self.turn(Message(role, word), results=results, named=named, placement=placement)
        self.follow(turn, self.runner.run(self.weavers[replica].weave(turn)))

    @rule(skill_id=st.sampled_from(SKILLS), replica=st.integers(0, 1))
    def the_model_reads(self, skill_id: str, replica: int) -> None:
        turn = self.turn(Message(Role.TOOL, ""), reads=(Read(skill_id),))
        self.follow(turn, self.runner.run(self.weavers[replica].weave(turn)))

    @rule(word=st.sampled_from(WORDS), replica=st.integers(0, 1))
    def a_delivery_fails_and_is_tried_again(self, word: str, replica: int) -> None:
        turn = self.turn(Message(Role.USER, word), results=(ToolResult("look", "{}"),))

        async def fails() -> Injection:
            with suppress(LookupError):
                async with self.weavers[replica].delivery(turn) as injection:
                    raise LookupError("the model did not answer")
            return injection

        failed = self.runner.run(fails())
        again = self.runner.run(self.weavers[1 - replica].weave(turn))
        assert (again.move, again.skills) == (failed.move, failed.skills)
        self.follow(turn, again)

    @rule(words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=4))
    def turns_at_the_same_time(self, words: list[str]) -> None:
        """In which order they are stored is open, what they leave behind is not."""
        turns = [self.turn(Message(Role.USER, word), results=(ToolResult("look", "{}"),)) for word in words]

        async def race() -> list[Injection]:
            racing = (self.weavers[number % 2].weave(turn) for number, turn in enumerate(turns))
            return await asyncio.gather(*racing)

        for injection in self.runner.run(race()):
            self.given += [message.text for message in injection.messages]
        self.expected = self.state().cursor
        self.last = None

    @precondition(lambda self: self.last is not None)
    @rule(replica=st.integers(0, 1))
    def the_last_turn_is_repeated(self, replica: int) -> None:
        if self.last is None:
            return
        turn, first = self.last
        before = self.state()
        again = self.runner.run(self.weavers[replica].weave(turn))
        if before.last_turn == turn.id:
            assert (again.move, again.messages) == (first.move, first.messages)
            assert again.tools.offers(TOOLS) == first.tools.offers(TOOLS)
            assert self.state() == before

    @rule(skill_id=st.sampled_from(SKILLS), how=st.sampled_from(["evict", "disengage", "unload"]))
    def a_skill_is_to_go(self, skill_id: str, how: str) -> None:
        gone = self.state()
        weaver = self.weavers[0]
        self.runner.run(getattr(weaver if how == "evict" else weaver.ledger, how)("c", skill_id))
        kept = {record.carrier for record in self.state().records}
        if {record.carrier for record in gone.records} - kept:
            self.given = [text for text in self.given if f"do {skill_id}," not in text]
        if how != "evict" and self.expected is not None and self.expected.skill == skill_id:
            self.expected, self.left = None, True
        self.last = None

    @rule(skill_id=st.sampled_from(SKILLS))
    def a_skill_is_edited(self, skill_id: str) -> None:
        self.editions[skill_id] += 1
        for weaver in self.weavers:
            weaver.skills.registry.register(self.skill(skill_id))
        self.last = None

    # -- what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def of_wired_skills_only_the_cursors_its_companions_and_base_are_engaged(self) -> None:
        state = self.state()
        wired = [entry.skill_id for entry in state.engaged if entry.skill_id in self.graph.compiled.wired]
        own = [one for one in wired if one not in BASE]
        if self.graph is TREE:
            assert state.cursor is None
            assert any(set(own) <= allowed(one) for one in own) or not own
        elif state.cursor is None:
            # Who goes takes the cursor along; whom only that place let in leaves with the next turn.
            assert own == [] or self.left
        else:
            assert state.cursor.skill in wired
            assert set(own) <= allowed(state.cursor.skill)

    @invariant()
    def the_cursor_is_where_the_pure_graph_says(self) -> None:
        found = self.state().cursor
        assert (found and (found.skill, found.visits)) == (
            self.expected and (self.expected.skill, self.expected.visits)
        )

    @invariant()
    def each_text_is_given_once(self) -> None:
        assert len(self.given) == len(set(self.given))

    @invariant()
    def the_tools_of_the_engaged_skills_and_of_no_other_wired_one_are_offered(self) -> None:
        standing = self.runner.run(self.weavers[1].current_policy("c"))
        engaged = {entry.skill_id for entry in self.state().engaged}
        if self.left:
            engaged -= self.graph.compiled.wired.keys() - BASE
        engaged |= {NEEDS[one] for one in engaged if one in NEEDS}
        wired = {tool for tool in TOOLS if tool.removeprefix("tool-") in self.graph.compiled.wired}
        offered = set(replace(standing.tools, allowed_tools=None).offers(TOOLS))
        assert offered & wired == {f"tool-{one}" for one in engaged} & wired

    # -- how ----------------------------------------------------------------------------------------------------------

    def turn(self, message: Message, **fields: object) -> Turn:
        self.turns += 1
        self.left = False
        return Turn(f"turn-{self.turns}", "c", message, **fields)  # type: ignore[arg-type]

    def follow(self, turn: Turn, injection: Injection) -> None:
        self.given += [message.text for message in injection.messages]
        self.last = (turn, injection)
        if self.graph is TREE:
            return
        move, self.expected = self.graph.advance(self.expected, turn)
        assert injection.move is not None
        assert (injection.move.to, injection.move.from_, injection.move.by) == (move.to, move.from_, move.by)

    def state(self) -> State:
        return self.runner.run(self.weavers[0].ledger.state("c"))


TOOLS = [f"tool-{one}" for one in SKILLS]


def allowed(skill_id: str) -> set[str]:
    return {skill_id, NEEDS.get(skill_id, skill_id)}


class BegunByTheModel(InGraph):
    graph = READ


class InTree(InGraph):
    graph = TREE


@pytest.mark.hypothesis
@pytest.mark.parametrize("machine", [InGraph, BegunByTheModel, InTree])
def test_what_is_engaged_is_always_what_the_cursor_says(machine: type[InGraph]) -> None:
    checks = list(HealthCheck)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(RUNS),
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=checks,
            print_blob=True,
        ),
    )
