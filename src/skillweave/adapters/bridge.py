"""What every adapter does with a Weaver, whatever its framework: weave a turn, judge a call, answer our own tools."""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, Unpack
from uuid import uuid4

from skillweave.adapters.chat import (
    Call,
    HostMessage,
    TurnOptions,
    asked_now,
    last_spoken,
    turn_from,
)
from skillweave.checking import Checked
from skillweave.compose.composition import limited, limits_of, narrower
from skillweave.compose.policy import Refusal, Ruling, ToolPolicy, Verdict
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Placement, ToolCall, Turn, nothing_said
from skillweave.disclose.block import SkillTools
from skillweave.errors import StoreUnavailable
from skillweave.injection import CurrentPolicy, Injection, PendingCheckpoint
from skillweave.limits import ToolLimits
from skillweave.relations.rules import read_entry
from skillweave.stores.insertions import insertions_of
from skillweave.weaver import Weaver
from skillweave.weaver.tools import ToolAnswer

T = TypeVar("T")
Ruled = TypeVar("Ruled", Injection, CurrentPolicy)

MOST_REMEMBERED = 1024
"""Conversations whose last tool policy a Bridge remembers: it holds while the State is the same or cannot be read."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The ruling on one call, and the checkpoints that a person has to decide first where it is ASK.

    `waited` are those at which it had to wait when the model was called, decided since or not.
    """

    verdict: Verdict
    waits: tuple[PendingCheckpoint, ...] = ()
    waited: tuple[PendingCheckpoint, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether the call may run now; a call that a person approved, once `Bridge.take` lets it through."""
        return self.verdict.ruling is Ruling.ALLOW or bool(self.verdict.approved)


class Bridge:
    """A Weaver set up for one kind of agent: its placement, skillweave's own tools, and a spawn's plan if it has one.

    `append_only` says that the adapter cannot take anything out of the host's history. All that must last is in the
    ledger: any number of Bridges over one, in any process, behave as one.
    """

    def __init__(
        self,
        weaver: Weaver,
        placement: Placement = Placement.HISTORY,
        *,
        plan: SpawnPlan | None = None,
        append_only: bool = False,
    ) -> None:
        checked = Checked("adapter")
        checked.kind("weaver", weaver, Weaver, "a Weaver; open one: skillweave.open('skills')")
        if plan is not None:
            checked.kind("plan", plan, SpawnPlan, "the SpawnPlan of `weaver.composition.prepare_spawn`, or None")
        self.weaver = weaver.variant(replace(weaver.settings, skill_tools=SkillTools.OFFERED))
        self.placement = checked.member("placement", placement, Placement)
        self.tenant = weaver._engine.tenant  # noqa: SLF001 - whose insertions these are
        self.insertions = insertions_of(weaver.ledger.store)
        self.plan = plan
        self.limits = plan.limits if plan else None
        """What the agent may use at most, None for one that was not spawned."""
        self._append_only = append_only
        self._last: OrderedDict[str, tuple[CurrentPolicy, object]] = OrderedDict()
        """By conversation, the tool policy of its last turn, and the host's tools and the limits of which it is."""

    def within(self, plan: SpawnPlan) -> "Bridge":
        """The same kind of agent, as the sub-agent of this plan."""
        other = copy(self)
        other.plan, other.limits, other._last = plan, plan.limits, OrderedDict()  # noqa: SLF001 - its own kind
        return other

    async def limits_in(self, conversation: str) -> ToolLimits | None:
        """What a run in the conversation may use at most: its own limits, within those of whose tool it runs inside."""
        caller = CALLER.get()
        while caller is not None and caller.is_of(self, conversation):
            caller = caller.above
        return self.limits if caller is None else narrower(await caller.limits(), self.limits)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the coroutine for a caller that does not await, on the weaver's loop but in the caller's context.

        Frameworks keep there which run and which node is going on, and pause it by an exception.
        """

        async def inside(context: Context) -> T:
            return await asyncio.create_task(work, context=context)

        return self.weaver.sync.run(inside(copy_context()))

    async def weave(self, chat: Sequence[HostMessage], conversation: str, **fields: Unpack[TurnOptions]) -> Injection:
        """The Injection for the chat that is about to be sent, counted as given.

        The Bridge itself says the placement and the limits; a host may name the other `fields`.
        """
        limits = self.limits if CALLER.get() is None else await self.limits_in(conversation)
        injection = self._with_last_rules(await self.weaver.weave(self._turn(chat, conversation, fields, limits)))
        self._remember(injection.policy, (fields.get("tools"), limits))
        return injection

    async def coming(
        self, chat: Sequence[HostMessage], conversation: str, **fields: Unpack[TurnOptions]
    ) -> tuple[str, ...]:
        """The ids of the skills whose text `weave` would give now; nothing is written.

        While the ledger does not answer, those that the matchers choose.
        """
        try:
            limits = await self.limits_in(conversation)
            return (await self.weaver.preview(self._turn(chat, conversation, fields, limits))).skills
        except StoreUnavailable:
            return await self.chosen(chat, conversation, **fields)

    async def chosen(
        self, chat: Sequence[HostMessage], conversation: str, **fields: Unpack[TurnOptions]
    ) -> tuple[str, ...]:
        """The ids of the skills that the matchers choose, whatever the conversation has; the ledger is not asked."""
        selection = await self.weaver.skills.match(self._turn(chat, conversation, fields, self.limits))
        return tuple(candidate.skill_id for candidate in selection.chosen)

    async def current_policy(self, conversation: str, tools: Sequence[str] | None = None) -> CurrentPolicy:
        """The tool policy now, between two calls of the model, by one load of the ledger.

        `tools` are the names of all tools of the host, as for `weave`: then it need not be worked out again.
        """
        limits = self.limits if CALLER.get() is None else await self.limits_in(conversation)
        last = self._last.get(conversation)
        held = last[0] if last and last[1] == (tools, limits) else None
        now = await self.weaver.current_policy(
            conversation, tools=tools, limits=limits, placement=self.placement, held=held
        )
        return self._with_last_rules(now)

    async def judge(
        self,
        call: Call,
        conversation: str,
        tools: Sequence[str] | None = None,
        shown: Sequence[PendingCheckpoint] = (),
        now: CurrentPolicy | None = None,
        host_tools: Sequence[str] | None = None,
    ) -> Judged:
        """Whether a call of a host's tool may run; observers are told of a denied one, and a question is noted.

        Nothing is let through by it: call `take` directly before the tool runs. A call whose arguments cannot be read
        is denied with words for the model. `shown` are the checkpoints that were open when the model was called, for
        `Judged.waited`. The ledger is asked once, or not where the host knows what applies `now`. `host_tools` are
        those that a denial may name, where turns are woven without `tools`.
        """
        if call.problem:
            return Judged(Verdict(Ruling.DENY, call.name, call.problem, Refusal.NOT_ALLOWED))
        now = now or await self.current_policy(conversation, tools)
        hosted = host_tools if tools is None else tools
        call_id = call.id or None
        verdict = now.tools.authorize(
            call.name, call.arguments, call_id=call_id, parameters=call.parameters, host_tools=hosted
        )
        if verdict.ruling is Ruling.DENY or verdict.checkpoints:
            verdict = await self.weaver.authorize(
                now,
                call.name,
                call.arguments,
                call_id=call_id,
                parameters=call.parameters,
                host_tools=hosted,
                limits=await self.limits_in(conversation),
            )
        waits = tuple(
            one
            for one in now.checkpoints
            if one.blocking and one.name in verdict.checkpoints and read_entry(one.before or "").names(call.name)
        )
        waited = tuple(one for one in shown if one.blocking and one.before and _asks(one.before, call, now.tools))
        return Judged(verdict, waits, waited)

    async def take(self, judged: Judged, call: Call, conversation: str, tools: Sequence[str] | None = None) -> Judged:
        """The ruling directly before the call runs: one that a person approved is let through, once.

        Where others were faster, or the ledger is silent, it may not run.
        """
        if not judged.verdict.approved:
            return judged
        verdict = await self.weaver.authorize(
            await self.current_policy(conversation, tools),
            call.name,
            call.arguments,
            call_id=call.id or None,
            parameters=call.parameters,
            limits=await self.limits_in(conversation),
        )
        return replace(judged, verdict=verdict)

    async def give_back(self, call: Call, conversation: str) -> None:
        """The call that was let through was never started: the yes to it counts again."""
        await self.weaver.approvals.give_back(conversation, ToolCall(call.id, call.name, call.arguments or {}))

    async def answer(
        self,
        call: Call,
        conversation: str,
        chat: Sequence[HostMessage] | None = None,
        tools: Sequence[str] | None = None,
    ) -> ToolAnswer:
        """The answer to a call of one of skillweave's own tools; `chat` is what the model was sent and said."""
        limits = await self.limits_in(conversation)
        answer = await self.weaver.tools.call(
            call.name,
            call.arguments,
            conversation=conversation,
            call_id=call.id,
            transcript=None if chat is None else tuple(piece.message for piece in chat),
            tools=tools,
            limits=limits,
            placement=self.placement,
        )
        if answer.injection is not None and not answer.injection.without_ledger:
            self._remember(answer.injection.policy, (tools, limits))
        return answer

    def _turn(
        self, chat: Sequence[HostMessage], conversation: str, fields: TurnOptions, limits: ToolLimits | None
    ) -> Turn:
        named = (*(self.plan.skills if self.plan else ()), *fields.get("named", ()))
        if last_spoken(chat) is not None:
            known = TurnOptions(**{**fields, "named": named, "limits": limits, "placement": self.placement})
            known["append_only"] = self._append_only or fields.get("append_only", False)
            return turn_from(chat, conversation, **known)
        # A run on instructions alone: nothing can match, and what is engaged stays.
        silent = nothing_said(
            uuid4().hex, conversation, tools=fields.get("tools"), limits=limits, placement=self.placement
        )
        return replace(
            silent,
            transcript=tuple(piece.message for piece in chat),
            named=named,
            memory=fields.get("memory", {}),
            append_only=self._append_only or fields.get("append_only", False),
        )

    def _remember(self, policy: CurrentPolicy, made_with: object) -> None:
        self._last[policy.conversation] = policy, made_with
        self._last.move_to_end(policy.conversation)
        if len(self._last) > MOST_REMEMBERED:
            self._last.popitem(last=False)

    def _with_last_rules(self, now: Ruled) -> Ruled:
        """While the ledger does not answer, the rules of the last call hold beside the new ones."""
        if now.conversation not in self._last or not now.without_ledger or now.tools.closed:
            return now
        last: CurrentPolicy = self._last[now.conversation][0]
        tools = limited(now.tools, limits_of(last.tools))
        checkpoints = dict.fromkeys((*now.checkpoints, *last.checkpoints))
        return replace(now, tools=tools, checkpoints=tuple(checkpoints))


CALLER: ContextVar["Caller | None"] = ContextVar("skillweave-caller", default=None)
"""The agent whose tool is running here; frameworks hand a tool's context on to what it starts."""


@dataclass(eq=False, slots=True)
class Caller:
    """A guarded agent one of whose tools is running: an agent inside the tool, of any framework, may do no more.

    `above` is the agent inside whose tool this one runs itself.
    """

    bridge: Bridge
    conversation: str
    above: "Caller | None" = field(default_factory=CALLER.get, kw_only=True)
    _limits: ToolLimits | None = field(default=None, init=False)

    async def limits(self) -> ToolLimits:
        """What an agent inside the tool may use at most, as it was when one first asked."""
        if self._limits is None:
            with calling(self.above):
                now = await self.bridge.current_policy(self.conversation)
            if now.without_ledger:  # perhaps the next look succeeds
                return limits_of(now.tools)
            self._limits = limits_of(now.tools)
        return self._limits

    def is_of(self, bridge: Bridge, conversation: str) -> bool:
        """Whether a run in this conversation is the caller's own: its State has the rules already."""
        engines = self.bridge.weaver._engine, bridge.weaver._engine  # noqa: SLF001 - no host needs to ask this
        return self.conversation == conversation and engines[0].watched is engines[1].watched


@contextmanager
def calling(caller: Caller | None) -> Iterator[None]:
    """While the tool of this agent runs."""
    token = CALLER.set(caller)
    try:
        yield
    finally:
        CALLER.reset(token)


def _asks(before: str, call: Call, now: ToolPolicy) -> bool:
    alone = ToolPolicy(asks={before: (before,)}, argument_names=now.argument_names)
    return alone.authorize(call.name, call.arguments, parameters=call.parameters).ruling is Ruling.ASK


def tail_of(injection: Injection, chat: Sequence[HostMessage], *, kept_by_service: bool) -> str:
    """The text for the end of this call, behind everything in the chat; never to be kept with it.

    A service that keeps what it is sent keeps this too: it is sent once, with the user's words, and stands there while
    tools answer.
    """
    return "" if kept_by_service and not asked_now(chat) else injection.tail
