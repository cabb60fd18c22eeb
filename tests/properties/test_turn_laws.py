"""What holds for every turn, whatever the skills, the budget and the history: checked on whole conversations."""

import asyncio
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from skillweave import (
    Budget,
    CatalogMode,
    Injection,
    MemoryStore,
    Message,
    Outcome,
    Placement,
    Registry,
    Role,
    Settings,
    Skill,
    Weaver,
)
from skillweave.sources import InCode
from skillweave_testing import WordCounter
from tests.depth import tried
from tests.skills import make_skill

NAMES = [f"skill-{n}" for n in range(6)]
COUNTER = WordCounter()
SHOWN = {Outcome.INJECTED, Outcome.ALREADY_PRESENT, Outcome.REFRESHED, Outcome.UPGRADED, Outcome.ADOPTED}

skill_sizes = st.lists(st.integers(0, 120), min_size=len(NAMES), max_size=len(NAMES))
budgets = st.builds(
    Budget,
    total=st.integers(0, 500),
    catalog=st.integers(0, 200),
    per_skill=st.integers(0, 300),
    reserve=st.integers(0, 60),
)


@dataclass(frozen=True)
class Step:
    named: tuple[str, ...]
    placement: Placement
    tells: bool
    forgets: bool


steps = st.builds(
    Step,
    st.lists(st.sampled_from(NAMES), max_size=3, unique=True).map(tuple),
    st.sampled_from(Placement),
    st.booleans(),
    st.booleans(),
)


def skills_of(sizes: list[int]) -> list[Skill]:
    return [
        make_skill(name, instructions="word " * size, requires=["skill-1"] if n == 0 else [])
        for n, (name, size) in enumerate(zip(NAMES, sizes, strict=True))
    ]


async def conversation(sizes: list[int], config: Settings, script: list[Step]) -> list[Injection]:
    weaver = Weaver(Registry([InCode(*skills_of(sizes))]), MemoryStore(), config, counter=COUNTER)
    history: list[Message] = []
    injections = []
    for n, step in enumerate(script):
        if step.forgets:
            history = []
        history.append(Message(Role.USER, f"message {n}"))
        injection = await weaver.weave(
            f"message {n}",
            conversation="c",
            turn_id=f"t{n}",
            named=step.named,
            placement=step.placement,
            transcript=history if step.tells else None,
        )
        history += injection.messages
        injections.append(injection)
    return injections


@tried(33)
@given(skill_sizes, budgets, st.sampled_from(CatalogMode), st.lists(steps, max_size=6))
def test_no_turn_goes_over_its_budget_and_nothing_is_left_out_in_silence(
    sizes: list[int], budget: Budget, catalog: CatalogMode, script: list[Step]
) -> None:
    injections = asyncio.run(conversation(sizes, Settings(budget=budget, catalog=catalog), script))
    for step, injection in zip(script, injections, strict=True):
        assert injection.tokens.injected == sum(block.tokens for block in injection.blocks)
        assert injection.tokens.injected == 0 or injection.tokens.left >= 0
        assert COUNTER.count(injection.instructions) <= budget.usable
        assert COUNTER.count(injection.catalog) <= budget.catalog_limit
        told = {decision.skill_id: decision.outcome for decision in reversed(injection.decisions)}
        for name in step.named:
            assert told[name] in SHOWN | {Outcome.OVER_BUDGET, Outcome.OVER_LIMIT}
        said_injected = {name for name, outcome in told.items() if outcome is Outcome.INJECTED}
        assert said_injected <= set(injection.skills)


@given(skill_sizes, budgets, st.lists(steps, max_size=5))
def test_the_same_conversation_gives_the_same_answers(sizes: list[int], budget: Budget, script: list[Step]) -> None:
    config = Settings(budget=budget)
    first = asyncio.run(conversation(sizes, config, script))
    second = asyncio.run(conversation(sizes, config, script))
    assert [i.to_dict() for i in first] == [i.to_dict() for i in second]


@given(skill_sizes, st.lists(steps, min_size=1, max_size=6))
def test_no_message_has_the_id_of_another_text(sizes: list[int], script: list[Step]) -> None:
    texts: dict[str | None, str] = {}
    for injection in asyncio.run(conversation(sizes, Settings(), script)):
        for message in injection.messages:
            assert texts.setdefault(message.id, message.text) == message.text
