"""Reading by sections, whatever the model asks for and the host takes out: within the budget, and nothing twice."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from skillweave import (
    Budget,
    CatalogMode,
    MemoryStore,
    Message,
    Registry,
    Role,
    Ruling,
    Settings,
    ToolAnswer,
    ToolRules,
    Weaver,
)
from skillweave.disclose.block import digest_in, text_digest
from skillweave.sources import InCode
from skillweave.tools import SkillTools
from skillweave.turn.reconcile import split_at_blocks
from skillweave.turns import Drop
from skillweave_testing import WordCounter
from tests.depth import tried
from tests.skills import make_skill

TOTAL = 2000
TOPICS = [(chapter, topic) for chapter in range(1, 5) for topic in range(1, 5)]
COUNT = WordCounter()


def topic(chapter: int, number: int) -> str:
    return f"### Topic {chapter}.{number}\n\n" + " ".join(f"c{chapter}t{number}w{n}." for n in range(400)) + "\n\n"


def body() -> str:
    chapters = (f"## Chapter {c}\n\n" + "".join(topic(c, t) for t in range(1, 5)) for c in range(1, 5))
    return "".join(chapters)


SKILLS = (
    make_skill("handbook", keywords=["handbook"], instructions=body(), tools=ToolRules(forbidden=("write",))),
    make_skill("greet", keywords=["hello"], instructions="hi. " * 150),
)
ASKED = [str(chapter) for chapter in range(1, 5)] + [f"{chapter}.{number}" for chapter, number in TOPICS] + ["nowhere"]


@dataclass
class Host:
    """A host that keeps what it was given, tells its transcript, and takes out what it is told may go, or anything."""

    weaver: Weaver
    history: list[Message] = field(default_factory=list)
    calls: int = 0

    async def says(self, text: str) -> None:
        self.history.append(Message(Role.USER, text))
        injection = await self.weaver.weave(text, conversation="c", transcript=self.history)
        self.takes_out(injection.drop)
        self.history += injection.messages

    def takes_out(self, drops: Sequence[Drop]) -> None:
        gone = {digest_in(drop.message_id) for drop in drops}
        self.history = [m for m in self.history if not gone & {text_digest(b) for b in split_at_blocks(m.text)[1]}]

    async def reads(self, section: str, *, makes_room: bool) -> ToolAnswer:
        self.calls += 1
        self.history.append(Message(Role.ASSISTANT, ({"type": "tool_use", "id": f"call-{self.calls}"},)))
        answer = await self.weaver.tools.read_skill("handbook", section, conversation="c", transcript=self.history)
        if answer.failed and answer.drop and makes_room:
            self.takes_out(answer.drop)
            answer = await self.weaver.tools.read_skill("handbook", section, conversation="c", transcript=self.history)
        self.history.append(Message(Role.TOOL, answer.text))
        return answer

    async def reads_together(self, sections: Sequence[str]) -> None:
        """Calls of one reply, which all run before the first answer stands in the history."""
        self.calls += 1
        self.history.append(Message(Role.ASSISTANT, ({"type": "tool_use", "id": f"calls-{self.calls}"},)))
        before = tuple(self.history)
        together = (
            self.weaver.tools.read_skill("handbook", one, conversation="c", transcript=before) for one in sections
        )
        self.history += [Message(Role.TOOL, answer.text) for answer in await asyncio.gather(*together)]

    async def obeys(self) -> bool:
        """Whether the handbook's rules hold in the turn to come, or its text leaves with it."""
        coming = await self.weaver.preview("hm", conversation="c", transcript=self.history)
        return (
            "handbook" in {drop.skill_id for drop in coming.drop}
            or coming.tools.authorize("write").ruling is Ruling.DENY
        )

    def blocks(self) -> list[str]:
        return [block for message in self.history for block in split_at_blocks(message.text)[1]]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.sampled_from(ASKED)),
        st.tuples(st.just("make room"), st.sampled_from(ASKED)),
        st.tuples(st.just("read together"), st.lists(st.sampled_from(ASKED), min_size=2, max_size=4)),
        st.tuples(st.just("say"), st.sampled_from(["handbook", "hello", "hm"])),
        st.tuples(st.just("compact"), st.integers(0, 6)),
    ),
    max_size=14,
)


async def play(script: Sequence[tuple[str, object]]) -> None:
    rules = Settings(
        budget=Budget(total=TOTAL, per_skill=TOTAL), skill_tools=SkillTools.OFFERED, catalog=CatalogMode.NEVER
    )
    host = Host(Weaver(Registry([InCode(*SKILLS)]), MemoryStore(), rules, counter=COUNT))
    for what, value in script:
        if what == "say":
            await host.says(str(value))
        elif what == "compact":
            host.history = host.history[int(str(value)) :]
        elif isinstance(value, list):
            await host.reads_together(value)
        else:
            answer = await host.reads(str(value), makes_room=what == "make room")
            if what == "make room" and value in ASKED[4:-1]:
                assert not answer.failed, "a section that fits into the budget alone can always be read"
        blocks = host.blocks()
        assert sum(COUNT.count(block) for block in blocks) <= TOTAL
        for chapter, number in TOPICS:
            assert sum(block.count(f"c{chapter}t{number}w7.") for block in blocks) <= 1, "nothing is given twice"
        if any("Handbook" in block.splitlines()[0] and "Available" not in block for block in blocks):
            assert await host.obeys(), "whatever of its text is there"


@given(steps)
def test_reads_stay_within_the_budget_give_no_section_twice_and_keep_the_rules(
    script: list[tuple[str, object]],
) -> None:
    asyncio.run(play(script))


@tried(16)
@given(st.lists(st.sampled_from(ASKED[:-1]), min_size=1, max_size=5), st.integers(1, 3))
def test_a_repeated_call_gives_the_same_answer_and_writes_nothing(sections: list[str], times: int) -> None:
    async def replay() -> None:
        rules = Settings(budget=Budget(total=TOTAL), skill_tools=SkillTools.OFFERED, catalog=CatalogMode.NEVER)
        weaver = Weaver(Registry([InCode(*SKILLS)]), MemoryStore(), rules, counter=COUNT)
        for place, section in enumerate(sections):
            first = await weaver.tools.read_skill("handbook", section, conversation="c", call_id=f"call-{place}")
            state = await weaver.ledger.state("c")
            for _ in range(times):
                again = await weaver.tools.read_skill("handbook", section, conversation="c", call_id=f"call-{place}")
                assert again.text == first.text
                assert await weaver.ledger.state("c") == state

    asyncio.run(replay())
