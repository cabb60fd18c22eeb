"""One conversation with a model in LangChain's agent, message by message, and what skillweave did for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillweave.adapters.langchain import SkillMiddleware
from skillweave.cli.chat_model import model_failure
from skillweave.cli.output.turn import GIVEN, Told
from skillweave.conversation import Placement
from skillweave.decisions import Decision
from skillweave.errors import MissingExtra, SkillweaveError, StoreUnavailable
from skillweave.events.event import Callback, Event
from skillweave.events.payloads import CursorMoved, ToolBlocked, TurnDecided
from skillweave.state.port import Logged
from skillweave.weaver import Weaver

try:
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, Interrupt
except ModuleNotFoundError:
    raise MissingExtra("a conversation with a model", "langchain", "langchain") from None

Decide = Callable[[Mapping[str, Any]], Mapping[str, object]]
"""A person's reply to the question of a checkpoint."""


@dataclass(slots=True)
class Happened:
    """Collects what happens during one message; `observer` is for the Weaver."""

    turns: dict[str, TurnDecided] = field(default_factory=dict)
    blocked: list[ToolBlocked] = field(default_factory=list)
    moved: dict[str, CursorMoved] = field(default_factory=dict)
    """By the id of the event: a turn that runs again tells its step again."""

    @property
    def observer(self) -> Callback:
        """What the Weaver tells."""
        return Callback(self._observe)

    @property
    def context(self) -> tuple[str, ...]:
        """The skills whose text the last call of the model had."""
        return next((turn.skills for turn in reversed(self.turns.values())), ())

    @property
    def offered(self) -> tuple[str, ...]:
        """The skills that the end of a call named, each once."""
        return tuple(dict.fromkeys(skill_id for turn in self.turns.values() for skill_id in turn.offered))

    @property
    def tail_tokens(self) -> int:
        """The tokens at the end of the call that had most there: calls of one tool loop end the same."""
        return max((turn.tokens["tail"] for turn in self.turns.values()), default=0)

    @property
    def diagnostics(self) -> tuple[str, ...]:
        """The codes of what went wrong, each once."""
        return tuple(dict.fromkeys(code for turn in self.turns.values() for code in turn.diagnostics))

    def clear(self) -> None:
        """Begin with the next message."""
        self.turns.clear()
        self.blocked.clear()
        self.moved.clear()

    def _observe(self, event: Event) -> None:
        if isinstance(event.payload, ToolBlocked):
            self.blocked.append(event.payload)
        elif isinstance(event.payload, CursorMoved):
            self.moved[event.id] = event.payload
        elif isinstance(event.payload, TurnDecided) and event.turn_id is not None:
            self.turns[event.turn_id] = event.payload


class Talk:
    """The conversation; its history is in this process, the ledger of the Weaver may be in a file."""

    def __init__(
        self,
        model: BaseChatModel,
        weaver: Weaver,
        conversation: str,
        happened: Happened,
        *,
        named: str = "the model",
        system: str | None = None,
        placement: Placement = Placement.HISTORY,
    ) -> None:
        self.weaver = weaver
        self.conversation = conversation
        self._happened = happened
        self._named = named
        self._run: Any = {"configurable": {"thread_id": conversation}}
        self._agent: Any = create_agent(
            model,
            system_prompt=system or None,
            middleware=[SkillMiddleware(weaver, placement=placement)],
            checkpointer=InMemorySaver(),
        )

    def say(self, text: str, decide: Decide, show: Callable[[str], object]) -> Told:
        """One message of the user; `show` gets the reply piece by piece, `decide` what a person is asked.

        Raises Mistake for a model that fails, and whatever `decide` raises.
        """
        before = {entry.turn_id for entry in self._logged()}
        self._happened.clear()
        reply, speaking = "", None
        given: Any = {"messages": [{"role": "user", "content": text}]}
        while given is not None:
            asked: list[Interrupt] = []
            for message, piece in self._pieces(given, asked):
                apart = "\n" if reply and message != speaking else ""  # what is said before a tool call and after it
                show(apart + piece)
                reply, speaking = reply + apart + piece, message
            given = Command(resume={one.id: decide(one.value) for one in asked}) if asked else None
        # A message that begins another process's chat in the same words is the same turn again, and logged already.
        happened = self._happened
        new = [one for one in self._logged() if one.turn_id in happened.turns or one.turn_id not in before]
        decisions = _latest([one.decision for one in new])
        return Told(
            text,
            reply,
            decisions,
            tuple(happened.blocked),
            happened.context,
            happened.diagnostics,
            tuple(happened.moved.values()),
            happened.offered,
            happened.tail_tokens,
        )

    def _pieces(self, given: object, asked: list[Interrupt]) -> Iterator[tuple[str | None, str]]:
        try:
            for mode, data in self._agent.stream(given, self._run, stream_mode=["messages", "updates"]):
                if mode == "updates":
                    asked += data.get("__interrupt__", ())
                elif isinstance(data[0], AIMessage) and data[0].text:
                    yield data[0].id, str(data[0].text)
        except SkillweaveError:
            raise
        except Exception as error:
            raise model_failure(error, self._named) from error

    def _logged(self) -> Sequence[Logged]:
        try:
            return self.weaver.sync.why(self.conversation)
        except StoreUnavailable:
            return ()  # the reply is worth more than what there is to say about it


def _latest(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """Of each skill the decision that says most: that it was given, else the last one."""
    found: dict[str, Decision] = {}
    for decision in decisions:
        if decision.skill_id not in found or found[decision.skill_id].outcome not in GIVEN:
            found[decision.skill_id] = decision
    return tuple(found.values())
