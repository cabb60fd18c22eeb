"""`skillweave demo`: one conversation over the example skills."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import completion, options
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page
from skillweave.conversation import Message, Role, Turn

if TYPE_CHECKING:
    from skillweave.cli.output.turn import Demo, DemoTurn
    from skillweave.injection import Injection
    from skillweave.weaver import Weaver


SKILL = "multilingual-greetings"


class Event(StrEnum):
    """What happens before a turn."""

    NOTHING = "nothing"
    COMPACTION = "compaction"
    EVICTION = "eviction"


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn: what happens before it, what the user says, and what its outcome shows."""

    message: str
    lesson: str
    event: Event = Event.NOTHING
    happening: str = ""


SUMMARY = "Summary: the user had greetings written for Alice and Bob."
REPLY = "(the model answers)"

SCENES = (
    Scene(
        "Say bonjour to Alice",
        "A word of the message is a trigger of this skill. Its text goes into the history; of the others the model "
        "sees one line each.",
    ),
    Scene(
        "Now say hola to Bob",
        "The same skill is wanted, but its text still stands in the history: nothing is sent twice.",
    ),
    Scene(
        "What is 2+2?",
        "No skill is about this, so none is added. The catalog stands in every call with the same bytes, so that a "
        "provider's cache holds.",
    ),
    Scene(
        "Thank you!",
        "The skill is still engaged and its text is gone, so it comes back, although nothing in the message asks for "
        "it.",
        Event.COMPACTION,
        "The host compacts the history: only a summary is left of it, the skill's text is gone.",
    ),
    Scene(
        "Go on.",
        "What is evicted is forgotten, so it is given again. The old text counts until the host drops it from the "
        "history.",
        Event.EVICTION,
        f"Somebody evicts the skill, as `skillweave ledger evict CONVERSATION {SKILL}` does.",
    ),
)


def example_skills() -> Path:
    """The folder of example skills; raises Mistake where they were not installed."""
    package = Path(__file__).parents[1]
    for folder in (package / "examples" / "skills", package.parents[1] / "examples" / "skills"):
        if folder.is_dir():
            return folder
    raise Mistake("the example skills are not installed; install skillweave again, or name a folder with --skills")


CONVERSATION = "demo"
EXCERPT_LINES = 7


EXAMPLES = {
    "demo": """
skillweave demo
skillweave demo texas-rrc
skillweave demo texas-rrc --ledger demo.db
skillweave demo --json
"""
}


async def demo(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The demo of a pack, which shows its skills, its tools and what it knows of things.",
            show_default=False,
            autocompletion=completion.demos,
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        options.option(
            options.LEDGER,
            "--ledger URL-or-FILE",
            "Keep the conversation of a pack's demo there, so that a second run sends nothing twice. Default: nothing "
            "is kept.",
        ),
    ] = None,
) -> Answer:
    """See it work: one conversation over the example skills.

    Shows an injection, a follow-up with nothing sent twice, an unrelated question, a compacted history after which
    the skill comes back, and an eviction; each with the tokens against loading everything. With a NAME the demo of
    that pack is played instead. Nothing is written without --ledger.
    """
    # One that is configured is for conversations of one's own.
    typed = getattr(ctx.get_parameter_source("ledger"), "name", "") == "COMMANDLINE"
    if name is not None:
        from skillweave.cli.pack_demo import played

        return await played(name, ledger if typed else None)
    if typed:
        raise Mistake("only the demo of a pack can be kept; name one: skillweave demo NAME --ledger FILE")
    return await _example_demo()


async def _example_demo() -> Answer:
    import skillweave
    from skillweave.settings import FileAccess, Settings

    # Without the folder's name in the text every machine counts the same tokens.
    weaver = skillweave.open(example_skills(), settings=Settings(files=FileAccess.NONE))
    budget = weaver.settings.budget.usable
    history: tuple[Message, ...] = ()
    acts: list[_Act] = []
    for place, scene in enumerate(SCENES, start=1):
        history = await _happen(scene.event, history, weaver)
        said = Message(Role.USER, scene.message)
        turn = Turn(f"demo-{place}", CONVERSATION, said, transcript=(*history, said))
        injection = (await weaver.weave(turn)).measured_against(await weaver.skills.tokens_of_everything())
        history = (*history, said, *injection.messages, Message(Role.ASSISTANT, REPLY))
        acts.append(_Act(scene, injection, budget - injection.tokens.left))
    played = _Played(tuple(acts), len((await weaver.skills.snapshot()).active()))
    return Answer(played.value, played.text)


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

    def value(self, place: int) -> "DemoTurn":
        from skillweave.cli.output.turn import DemoTurn

        scene = self.scene
        return DemoTurn(place, scene.event.value, scene.message, scene.lesson, self.in_call, self.injection)

    def text(self, place: int, page: Page) -> str:
        scene, number = self.scene, f"{place}. "
        margin = " " * len(number)
        said = page.paint(f"The user says: {scene.message}", Ink.STRONG)
        happening = page.inset(len(number)).wrap(scene.happening)
        lines = [*([happening] if happening else []), said, *self._lines(place, page.inset(len(number)))]
        return number + indent("\n".join(lines), margin).removeprefix(margin)

    def _lines(self, place: int, page: Page) -> Iterator[str]:
        from skillweave.cli.output.turn import (
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

    def value(self) -> "Demo":
        from skillweave.cli.output.turn import Demo, DemoTotals

        whole = self.everything * len(self.acts)
        steps = tuple(act.value(place) for place, act in enumerate(self.acts, start=1))
        return Demo(self.skills, steps, DemoTotals(len(steps), self.in_calls, whole, _saved(self.in_calls, whole)))

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
