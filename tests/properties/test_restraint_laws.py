"""What any wanted skill forbids holds, for random skills, budgets, decoys and histories, against a judge of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

import skillweave
from skillweave import (
    Budget,
    CatalogMode,
    Checkpoint,
    Message,
    Placement,
    Role,
    Ruling,
    Settings,
    Skill,
    ToolPolicy,
    ToolRules,
    Turn,
)
from skillweave.ledger import Lifecycle
from skillweave_testing import WordCounter
from tests.depth import tried
from tests.skills import make_skill

NUMBERS = range(6)
TOOLS = [f"tool{n}" for n in NUMBERS]
STAYS = 3
"""How many user messages without a match a skill stays for in call placement, as the documentation says."""


def skills(sizes: Sequence[int], asking: Iterable[int]) -> list[Skill]:
    """Skill n answers to `word n`, and forbids `tool n`, or asks before it."""
    asks = set(asking)
    return [
        make_skill(
            f"skill-{n}",
            keywords=[f"word number {n}"],
            instructions="w " * size,
            tools=None if n in asks else ToolRules(forbidden=(TOOLS[n],)),
            checkpoints=[Checkpoint(f"check{n}", before=TOOLS[n])] if n in asks else (),
        )
        for n, size in enumerate(sizes)
    ]


@dataclass(slots=True)
class Judge:
    """Which skills somebody wanted in this conversation and nobody let go: nothing of budgets, limits or texts."""

    lifecycle: Lifecycle
    idle: dict[int, int] = field(default_factory=dict)

    def hear(self, words: Iterable[int]) -> None:
        most = {Lifecycle.CONVERSATION: None, Lifecycle.RECENT: STAYS, Lifecycle.MESSAGE: 0}[self.lifecycle]
        aged = {n: idle + 1 for n, idle in self.idle.items() if most is None or idle + 1 <= most}
        self.idle = {**aged, **dict.fromkeys(words, 0)}

    def rulings(self, asking: Iterable[int]) -> list[Ruling]:
        asks = set(asking)
        held = {n: Ruling.ASK if n in asks else Ruling.DENY for n in self.idle}
        return [held.get(n, Ruling.ALLOW) for n in NUMBERS]


def rulings(tools: ToolPolicy) -> list[Ruling]:
    return [tools.authorize(name).ruling for name in TOOLS]


@tried(50)
@given(
    st.lists(st.sampled_from([5, 60, 400]), min_size=len(NUMBERS), max_size=len(NUMBERS)),
    st.sets(st.sampled_from(NUMBERS)),
    st.sampled_from([60, 150, 600, 5_000]),
    st.integers(0, 4),
    st.sampled_from([Lifecycle.CONVERSATION, Lifecycle.RECENT, Lifecycle.MESSAGE]),
    st.sampled_from(Placement),
    st.lists(st.tuples(st.sets(st.sampled_from(NUMBERS)), st.booleans(), st.booleans()), min_size=1, max_size=8),
)
def test_a_tool_is_denied_or_asked_about_exactly_while_a_skill_that_says_so_is_wanted(
    sizes: list[int],
    asking: set[int],
    total: int,
    max_skills: int,
    lifecycle: Lifecycle,
    placement: Placement,
    messages: list[tuple[set[int], bool, bool]],
) -> None:
    settings = Settings(
        Budget(total=total, per_skill=total, catalog=0),
        max_skills=max_skills,
        lifecycle=lifecycle,
        catalog=CatalogMode.NEVER,
    )
    weaver = skillweave.open(*skills(sizes, asking), counter=WordCounter(), settings=settings)
    judge = Judge(lifecycle)
    history: list[Message] = []
    with weaver.sync as sync:
        for number, (words, with_history, twice) in enumerate(messages):
            text = ", ".join(["go on", *(f"word number {n}" for n in sorted(words))])
            judge.hear(words)
            history.append(Message(Role.USER, text))
            transcript = tuple(history) if with_history else None
            turn = Turn(f"t{number}", "c", history[-1], transcript=transcript, placement=placement)
            found = [sync.weave(turn) for _ in range(1 + twice)]
            leaving = {drop.message_id for drop in found[0].leaving}
            history = [one for one in (*history, *found[0].messages) if one.id is None or one.id not in leaving]
            expected = judge.rulings(asking)
            assert [rulings(one.tools) for one in found] == [expected] * len(found)
            assert rulings(sync.current_policy("c", placement=placement).tools) == expected


@tried(26)
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sets(st.sampled_from(NUMBERS), max_size=3)), max_size=6))
def test_turn_ids_that_are_used_again_take_no_rule_away(turns: list[tuple[str, set[int]]]) -> None:
    weaver = skillweave.open(*skills([5] * len(NUMBERS), ()), counter=WordCounter())
    wanted: set[int] = set()
    with weaver.sync as sync:
        for turn_id, words in turns:
            text = ", ".join(["go on", *(f"word number {n}" for n in sorted(words))])
            found = sync.weave(Turn(turn_id, "c", Message(Role.USER, text)))
            wanted |= words
            for tools in (found.tools, sync.current_policy("c").tools):
                assert all(tools.authorize(TOOLS[n]).ruling is Ruling.DENY for n in wanted)
