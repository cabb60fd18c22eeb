"""`skillweave demo`: one conversation over the example skills."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING

from skillweave.cli.arguments import options
from skillweave.cli.examples import example_skills
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page
from skillweave.cli.story import REPLY, SCENES, SKILL, SUMMARY, Event, Scene
from skillweave.conversation import Message, Role, Turn

if TYPE_CHECKING:
    from skillweave.injection import Injection
    from skillweave.weaver import Weaver

EXAMPLES = """
skillweave demo
skillweave demo --json
"""
CONVERSATION = "demo"
EXCERPT_LINES = 7


def demo(as_json: options.AsJson = False) -> Answer:
    """See it work: one conversation over the example skills.

    Shows an injection, a follow-up with nothing sent twice, an unrelated question, a compacted history after which
    the skill comes back, and an eviction; each with the tokens against loading everything. Nothing is written.
    """
    import asyncio

    return asyncio.run(_played())


async def _played() -> Answer:
    from skillweave.factory import open_weaver
    from skillweave.settings import FileAccess, Settings

    # Without the folder's name in the text every machine counts the same tokens.
    weaver = open_weaver(example_skills(), settings=Settings(files=FileAccess.NONE))
    budget = weaver.settings.budget.usable
    history: tuple[Message, ...] = ()
    acts: list[_Act] = []
    for place, scene in enumerate(SCENES, start=1):
        history = await _happen(scene.event, history, weaver)
        said = Message(Role.USER, scene.message)
        turn = Turn(f"demo-{place}", CONVERSATION, said, transcript=(*history, said))
        injection = (await weaver.weave(turn)).measured_against(await weaver.tokens_of_everything())
        history = (*history, said, *injection.messages, Message(Role.ASSISTANT, REPLY))
        acts.append(_Act(scene, injection, budget - injection.tokens.left))
    played = _Played(tuple(acts), len((await weaver.snapshot()).active()))
    return Answer(played.to_dict, played.text)


async def _happen(event: Event, history: tuple[Message, ...], weaver: "Weaver") -> tuple[Message, ...]:
    if event is Event.COMPACTION:
        return (Message(Role.SYSTEM, SUMMARY),)
    if event is Event.EVICTION:
        await weaver.evict(CONVERSATION, SKILL)
    return history


@dataclass(frozen=True, slots=True)
class _Act:
    """One played turn; `in_call` are the skill tokens in the model call that it prepares."""

    scene: Scene
    injection: "Injection"
    in_call: int

    def to_dict(self, place: int) -> dict[str, object]:
        return {
            "step": place,
            "event": self.scene.event.value,
            "message": self.scene.message,
            "lesson": self.scene.lesson,
            "tokens_in_call": self.in_call,
            "injection": self.injection.to_dict(),
        }

    def text(self, place: int, page: Page) -> str:
        scene, number = self.scene, f"{place}. "
        margin = " " * len(number)
        said = page.paint(f"The user says: {scene.message}", Ink.STRONG)
        happening = page.inset(len(number)).wrap(scene.happening)
        lines = [*([happening] if happening else []), said, *self._lines(place, page.inset(len(number)))]
        return number + indent("\n".join(lines), margin).removeprefix(margin)

    def _lines(self, place: int, page: Page) -> Iterator[str]:
        from skillweave.cli.output.injection import (
            GIVEN,
            PASSED_OVER,
            decision_text,
            message_excerpts,
            spent_text,
            tools_text,
        )

        injection = self.injection
        for decision in injection.decisions:
            if decision.outcome not in PASSED_OVER:
                yield decision_text(decision, page)
        if any(decision.outcome in GIVEN for decision in injection.decisions):
            yield page.entry("tools", tools_text(injection.tools))
        if injection.fallback is not None:
            yield page.entry("fallback", injection.fallback.text)
        if place == 1:
            yield from message_excerpts(injection, page, EXCERPT_LINES)
        saved = _saved(self.in_call, injection.tokens.everything)
        yield page.entry("tokens", f"{spent_text(injection)}")
        yield page.entry("", f"{self.in_call:,} in this call, {saved}% less than all skills")
        yield page.wrap(self.scene.lesson)


@dataclass(frozen=True, slots=True)
class _Played:
    acts: Sequence[_Act]
    skills: int

    @property
    def everything(self) -> int:
        return self.acts[0].injection.tokens.everything or 0

    @property
    def in_calls(self) -> int:
        return sum(act.in_call for act in self.acts)

    def to_dict(self) -> dict[str, object]:
        whole = self.everything * len(self.acts)
        return {
            "skills": self.skills,
            "steps": [act.to_dict(place) for place, act in enumerate(self.acts, start=1)],
            "totals": {
                "calls": len(self.acts),
                "tokens": self.in_calls,
                "everything": whole,
                "saved_percent": _saved(self.in_calls, whole),
            },
        }

    def text(self, page: Page) -> str:
        head = (
            f"One conversation over the {self.skills} example skills. To load all of them would take "
            f"{self.everything:,} tokens of every call to the model."
        )
        scenes = (act.text(place, page) for place, act in enumerate(self.acts, start=1))
        return "\n\n".join([page.wrap(head), *scenes, self._total(page), _NEXT])

    def _total(self, page: Page) -> str:
        whole = self.everything * len(self.acts)
        total = (
            f"Together: {self.in_calls:,} tokens of skills in {len(self.acts)} calls instead of {whole:,}, "
            f"{_saved(self.in_calls, whole)}% less."
        )
        return page.paint(page.wrap(total), Ink.GOOD)


def _saved(spent: int, everything: int | None) -> float:
    return round(100 * (1 - spent / everything), 1) if everything else 0.0


_NEXT = """\
Now with a folder of your own, one SKILL.md in each folder below it:
  skillweave weave --skills DIR "what you would ask your agent"
  skillweave weave --skills DIR --conversation c1 "..."    keeps what was given
  skillweave check --skills DIR                            finds what is wrong"""
