"""One conversation with a model in LangChain's agent, message by message, and what skillweave did for each."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillweave.adapters.langchain import SkillMiddleware
from skillweave.cli.failure import Mistake
from skillweave.cli.output.turn import GIVEN, Told
from skillweave.conversation import Placement
from skillweave.decisions import Decision
from skillweave.errors import SkillweaveError, StoreUnavailable, needing
from skillweave.events.event import Callback, Event
from skillweave.events.payloads import CursorMoved, ToolBlocked, TurnDecided
from skillweave.redaction import HIDDEN, without_keys
from skillweave.state.port import Logged
from skillweave.weaver import Weaver

with needing("langchain", "a conversation with a model"):
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, Interrupt

Decide = Callable[[Mapping[str, Any]], Mapping[str, object]]
"""A person's reply to the question of a checkpoint."""
_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_ABOUT_KEYS = re.compile(r"api[ _-]?key|credential|authenticat|unauthori[sz]ed|access token", re.IGNORECASE)
_ABOUT_NETWORK = re.compile(r"connect|timeout|timed ?out|network|resolv", re.IGNORECASE)
_LONGEST = 300


def open_model(named: str) -> BaseChatModel:
    """The LangChain model for `provider:name`. Raises Mistake with the remedy if it cannot be made."""
    provider, _, model = (part.strip() for part in named.partition(":"))
    if not provider or not model:
        raise Mistake(f"{named[:100]!r} names no model; give it as provider:name, such as anthropic:claude-sonnet-5")
    from langchain.chat_models import init_chat_model

    try:
        return init_chat_model(model, model_provider=provider)
    except ImportError as error:
        package = f"langchain-{provider.replace('_', '-')}"
        said = _first_line(error)
        raise Mistake(f"models of {provider[:60]} need a package: pip install {package} ({said})") from None
    except Exception as error:  # noqa: BLE001 - the providers' packages have no exception in common
        raise model_failure(error, named) from None


def model_failure(error: Exception, named: str) -> Mistake:
    """What a failure of the model means for its user; no key stands in it, and no traceback."""
    provider, _, model = named.partition(":")
    status, kind, said = getattr(error, "status_code", None), type(error).__name__, _first_line(error)
    if status in (401, 403) or (status is None and _ABOUT_KEYS.search(f"{kind} {said}")):
        variable = f"{provider.strip().replace('-', '_').upper()}_API_KEY"
        why = f"got no key, or refuses the one that it got; set {variable}, or what its package reads, to a valid key"
    elif status == 404:
        why = f"knows no model {model[:100]!r}; check its name ({said})"
    elif status == 429:
        why = "takes no more requests now (a rate limit or a quota); wait, then try again"
    elif status is None and (isinstance(error, OSError) or _ABOUT_NETWORK.search(kind)):
        why = f"does not answer ({kind}); check the network, then try again"
    else:
        why = f"failed with {kind}: {said or 'it does not say why'}; try again, or another model"
    return Mistake(f"{provider[:60]} {why}")


def without_own_keys(text: str) -> str:
    """The text without what looks like a key, or is the value of a variable whose name says that it is one."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAMES.search(name):
            text = text.replace(value, HIDDEN)
    return without_keys(text)


def _first_line(error: BaseException) -> str:
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return without_own_keys(line)[:_LONGEST]


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

    def _observe(self, event: Event) -> None:
        if isinstance(event.payload, ToolBlocked):
            self.blocked.append(event.payload)
        elif isinstance(event.payload, CursorMoved):
            self.moved[event.id] = event.payload
        elif isinstance(event.payload, TurnDecided) and event.turn_id is not None:
            self.turns[event.turn_id] = event.payload

    def told(self, message: str, reply: str, decisions: tuple[Decision, ...]) -> Told:
        """What became of the message; calls of one tool loop end the same, so the end of the longest counts once."""
        turns = tuple(self.turns.values())
        return Told(
            message,
            reply,
            decisions,
            tuple(self.blocked),
            turns[-1].skills if turns else (),
            tuple(dict.fromkeys(code for turn in turns for code in turn.diagnostics)),
            tuple(self.moved.values()),
            tuple(dict.fromkeys(skill_id for turn in turns for skill_id in turn.offered)),
            max((turn.tokens["tail"] for turn in turns), default=0),
        )


class Talk:
    """The conversation; its history is in this process, the ledger of the Weaver may be in a file."""

    def __init__(
        self,
        model: BaseChatModel,
        named: str,
        weaver: Weaver,
        conversation: str,
        happened: Happened,
        system: str | None,
        placement: Placement,
    ) -> None:
        self.weaver = weaver
        self.conversation = conversation
        self._happened = happened
        self._named = named
        self._run: Any = {"configurable": {"thread_id": conversation}}
        skills = SkillMiddleware(weaver, placement=placement)
        self._agent: Any = create_agent(
            model, system_prompt=system or None, middleware=[skills], checkpointer=InMemorySaver()
        )

    def say(self, text: str, decide: Decide, show: Callable[[str], object]) -> Told:
        """Sends one message; `show` gets the reply in pieces, `decide` answers checkpoints. Raises Mistake."""
        before = {entry.turn_id for entry in self._logged()}
        happened = self._happened
        for collected in (happened.turns, happened.blocked, happened.moved):
            collected.clear()
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
        new = [one for one in self._logged() if one.turn_id in happened.turns or one.turn_id not in before]
        latest: dict[str, Decision] = {}
        for decision in (one.decision for one in new):  # that a skill was given says most
            if decision.skill_id not in latest or latest[decision.skill_id].outcome not in GIVEN:
                latest[decision.skill_id] = decision
        return happened.told(text, reply, tuple(latest.values()))

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
