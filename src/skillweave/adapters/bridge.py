"""What every adapter does with a Weaver, whatever its framework: weave a turn, judge a call, answer our own tools."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, TypeVar, Unpack
from uuid import uuid4

from skillweave.adapters.call import Call
from skillweave.adapters.heard import Heard, last_words, transcript_of, turn_from
from skillweave.compose.composition import limited, limits_of
from skillweave.compose.policy import OWN_TOOLS, Refusal, Ruling, ToolPolicy, Verdict
from skillweave.compose.spawn import SpawnPlan
from skillweave.conversation import Placement, Turn
from skillweave.disclose.block import SkillTools
from skillweave.errors import StoreUnavailable
from skillweave.injection import CurrentPolicy, Injection, PendingCheckpoint
from skillweave.relations.rules import read_entry
from skillweave.settings import Settings
from skillweave.weaver import Weaver
from skillweave.weaver.reading import TOOLS, ToolAnswer, ToolSpec
from skillweave.weaver.turns import nothing_said

Ruled = TypeVar("Ruled", Injection, CurrentPolicy)

MOST_REMEMBERED = 1024
"""Conversations whose last rules a Bridge remembers, for the moments in which the ledger does not answer."""


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
        """Whether the call may run now."""
        return self.verdict.ruling is Ruling.ALLOW


class ChatFields(TypedDict, total=False):
    """What a host may know beside its chat: the names of all `tools`, skills that it asks for itself (`named`).

    `memory` may name the entity that is being worked on; `turn_id` is the same for a call that is tried again.
    """

    tools: Sequence[str] | None
    named: Sequence[str]
    memory: Mapping[str, object]
    turn_id: str | None


class Bridge:
    """A Weaver as one kind of agent uses it: its placement, with skillweave's own tools, within a spawn's plan if any.

    `max_skills` stands in for that of the weaver's settings, `matchers` for the weaver's. Nothing that counts is kept
    here: any number of Bridges over one ledger, in any process, behave as one.
    """

    def __init__(
        self,
        weaver: Weaver,
        placement: Placement = Placement.HISTORY,
        *,
        plan: SpawnPlan | None = None,
        max_skills: int | None = None,
        matchers: Sequence[str] | None = None,
        settings: Settings | None = None,
    ) -> None:
        if not isinstance(weaver, Weaver):
            raise TypeError(
                f"an adapter is given a Weaver, not {type(weaver).__name__}; open one: skillweave.open('skills')"
            )
        wanted = replace(settings or weaver.settings, skill_tools=SkillTools.OFFERED)
        self.weaver = weaver.variant(
            wanted if max_skills is None else replace(wanted, max_skills=max_skills), matchers=matchers
        )
        self.placement = Placement(placement)
        self.plan = plan
        self._last: OrderedDict[str, tuple[ToolPolicy, tuple[PendingCheckpoint, ...]]] = OrderedDict()

    @property
    def own_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of skillweave itself, which the adapter declares beside the host's."""
        return tuple(TOOLS.values())

    async def weave(
        self,
        heard: Sequence[Heard],
        conversation: str,
        **fields: Unpack[ChatFields],
    ) -> Injection:
        """The Injection for the chat that is about to be sent, counted as given."""
        injection = self._with_what_held(await self.weaver.weave(self._turn(heard, conversation, fields)))
        self._remember(injection)
        return injection

    async def coming(self, heard: Sequence[Heard], conversation: str, **fields: Unpack[ChatFields]) -> tuple[str, ...]:
        """The ids of the skills whose text `weave` would give now; nothing is written.

        While the ledger does not answer, what the matchers say to the chat.
        """
        turn = self._turn(heard, conversation, fields)
        try:
            return (await self.weaver.preview(turn)).skills
        except StoreUnavailable:
            return tuple(candidate.skill_id for candidate in (await self.weaver.match(turn)).chosen)

    async def current_policy(self, conversation: str, tools: Sequence[str] | None = None) -> CurrentPolicy:
        """The tool policy now, between two calls of the model."""
        limits = self.plan.limits if self.plan else None
        now = await self.weaver.current_policy(conversation, tools=tools, limits=limits, placement=self.placement)
        return self._with_what_held(now)

    async def judge(
        self,
        call: Call,
        conversation: str,
        tools: Sequence[str] | None = None,
        shown: Sequence[PendingCheckpoint] = (),
    ) -> Judged:
        """Whether a call of a host's tool may run; observers are told of one that may not.

        A call whose arguments cannot be read is denied with words for the model. `shown` are the checkpoints that were
        open when the model was called, for `Judged.waited`.
        """
        if call.problem:
            return Judged(Verdict(Ruling.DENY, call.name, call.problem, Refusal.NOT_ALLOWED))
        now = await self.current_policy(conversation, tools)
        verdict = await self.weaver.authorize(now, call.name, call.arguments, call_id=call.id or None)
        waits = tuple(
            one
            for one in now.checkpoints
            if one.blocking and one.name in verdict.checkpoints and read_entry(one.before or "").names(call.name)
        )
        waited = tuple(one for one in shown if one.blocking and one.before and _asks(one.before, call, now.tools))
        return Judged(verdict, waits, waited)

    async def answer(
        self, call: Call, conversation: str, heard: Sequence[Heard] | None = None, tools: Sequence[str] | None = None
    ) -> ToolAnswer:
        """The answer to a call of one of skillweave's own tools; `heard` is what the model was sent and said."""
        return await self.weaver.call_tool(
            call.name,
            call.arguments,
            conversation=conversation,
            call_id=call.id,
            transcript=None if heard is None else transcript_of(heard),
            tools=tools,
            limits=self.plan.limits if self.plan else None,
            placement=self.placement,
        )

    def _turn(self, heard: Sequence[Heard], conversation: str, fields: ChatFields) -> Turn:
        tools, limits = fields.get("tools"), self.plan.limits if self.plan else None
        named = (*(self.plan.skills if self.plan else ()), *fields.get("named", ()))
        if last_words(heard) is None:
            # A run on instructions alone: nothing can match, and what is engaged stays.
            silent = nothing_said(uuid4().hex, conversation, tools=tools, limits=limits, placement=self.placement)
            return replace(silent, transcript=transcript_of(heard), named=named, memory=fields.get("memory", {}))
        return turn_from(
            heard,
            conversation,
            turn_id=fields.get("turn_id"),
            placement=self.placement,
            tools=tools,
            named=named,
            memory=fields.get("memory", {}),
            limits=limits,
        )

    def _with_what_held(self, now: Ruled) -> Ruled:
        """While the ledger does not answer, the rules of the last call hold beside the new ones."""
        last: tuple[ToolPolicy, tuple[PendingCheckpoint, ...]] | None = self._last.get(now.conversation)
        if last is None or not now.without_ledger or now.tools.closed:
            return now
        tools = limited(now.tools, limits_of(last[0]))
        checkpoints = dict.fromkeys((*now.checkpoints, *last[1]))
        return replace(now, tools=tools, checkpoints=tuple(checkpoints))

    def _remember(self, injection: Injection) -> None:
        self._last[injection.conversation] = injection.tools, injection.checkpoints
        self._last.move_to_end(injection.conversation)
        if len(self._last) > MOST_REMEMBERED:
            self._last.popitem(last=False)


def _asks(before: str, call: Call, now: ToolPolicy) -> bool:
    alone = ToolPolicy(asks={before: (before,)}, argument_names=now.argument_names)
    return alone.authorize(call.name, call.arguments).ruling is Ruling.ASK


def is_own(name: str) -> bool:
    """Whether the tool is one of skillweave's own, which every adapter answers itself."""
    return name in OWN_TOOLS
