"""The made-up skills, the messages about them and the weavers that turns are measured with."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from made import Made, made_message, made_skills, made_words

import skillweave
from skillweave.skill import Skill, SkillText, ToolRules, Triggers
from skillweave.sources.code import InCode
from skillweave.state.port import Store
from skillweave.tokens.counter import Tiktoken
from skillweave.weaver import Weaver

BODY = 5_000
"""Bytes: about the 1,200 tokens that a public skill's body has at the median."""
MESSAGES = 50
RULES = ToolRules(allowed=("read", "search"), forbidden=("shell",), preapproved=("read",))

_names = itertools.count()


@dataclass(frozen=True, slots=True)
class Stage:
    """The skills and messages of one size: `hits` name one skill each by its second trigger, `misses` name none."""

    made: Sequence[Made]
    skills: Sequence[Skill]
    hits: Sequence[tuple[str, Made]]
    misses: Sequence[str]
    counter: Tiktoken

    @property
    def size(self) -> str:
        """For the table."""
        return f"{len(self.made):,} skills"


def make_stage(size: int, counter: Tiktoken) -> Stage:
    """A stage of so many skills, the same in every run."""
    made = made_skills(size, body_bytes=BODY)
    rnd = random.Random(4)
    chosen = rnd.sample(made, min(MESSAGES, size))
    known = {one.product for one in made}
    elsewhere = [word for word in made_words(size + 1_000, 8) if word not in known]
    return Stage(
        made=made,
        skills=[_skill(number, one) for number, one in enumerate(made)],
        hits=[(message_for(one, rnd), one) for one in chosen],
        misses=[made_message(rnd, rnd.sample(elsewhere, 6), 200) for _ in range(MESSAGES)],
        counter=counter,
    )


def message_for(made: Made, rnd: random.Random) -> str:
    """A message of 200 characters that names the skill."""
    return made_message(rnd, [made.triggers[1]], 200)


def open_weaver(stage: Stage, ledger: Path | Store | None = None) -> Weaver:
    """A weaver over the stage's skills, with a ledger in memory, in that file or in that store."""
    return skillweave.open(InCode(*stage.skills), ledger=ledger, counter=stage.counter)


async def ready_weaver(stage: Stage, ledger: Path | Store | None = None) -> Weaver:
    """The same, which has read, compiled, rendered and counted everything that the timed turns need."""
    weaver = open_weaver(stage, ledger)
    for message, _ in stage.hits:
        await weaver.weave(message, conversation=new_name("warm"))
    for message in stage.misses:
        await weaver.weave(message, conversation=new_name("warm"))
    return weaver


def new_name(kind: str) -> str:
    """A conversation's id that no other has."""
    return f"{kind}-{next(_names)}"


def _skill(number: int, made: Made) -> Skill:
    """Every third has tool rules, so that the policy has something to compose."""
    return Skill(
        id=made.name,
        name=made.product.capitalize(),
        description=made.description,
        triggers=Triggers(keywords=made.triggers),
        text=SkillText(instructions=made.body),
        tools=RULES if number % 3 == 0 else None,
    )
