"""What every adapter does with a Weaver, whatever its framework: weave a turn, judge a call, answer our own tools."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, Unpack
from uuid import uuid4

from skillweave.adapters.chat import Call, HostFields, HostMessage, last_words, transcript_of, turn_from
from skillweave.compose.composition import limited, limits_of
from skillweave.compose.policy import OWN_TOOLS, Refusal, Ruling, ToolPolicy, Verdict
from skillweave.compose.spawn import SpawnPlan
from skillweave.conversation import Placement, Turn
from skillweave.disclose.block import SkillTools
from skillweave.errors import StoreUnavailable
from skillweave.injection import CurrentPolicy, Injection, PendingCheckpoint
from skillweave.limits import ToolLimits
from skillweave.relations.rules import read_entry
from skillweave.settings import Settings
from skillweave.weaver import Weaver
from skillweave.weaver.reading import TOOLS, ToolAnswer, ToolSpec
from skillweave.weaver.turns import nothing_said

Ruled = TypeVar("Ruled", bound="Injection | CurrentPolicy")

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

    @property
    def limits(self) -> ToolLimits | None:
        """What the agent may use at most, None for one that was not spawned."""
        return self.plan.limits if self.plan else None

    async def weave(self, chat: Sequence[HostMessage], conversation: str, **fields: Unpack[HostFields]) -> Injection:
        """The Injection for the chat that is about to be sent, counted as given.

        The Bridge itself says the placement and the limits; a host may name the other `fields`.
        """
        injection = self._with_last_rules(await self.weaver.weave(self._turn(chat, conversation, fields)))
        self._last[conversation] = injection.tools, injection.checkpoints
        self._last.move_to_end(conversation)
        if len(self._last) > MOST_REMEMBERED:
            self._last.popitem(last=False)
        return injection

    async def coming(
        self,
        chat: Sequence[HostMessage],
        conversation: str,
        held: Injection | None = None,
        **fields: Unpack[HostFields],
    ) -> tuple[str, ...]:
        """The ids of the skills whose text `weave` would give now; nothing is written.

        With the Injection that the host still holds of this conversation, the ledger is asked only where the matchers
        choose a skill that is not present. While it does not answer, the chosen ones.
        """
        turn = self._turn(chat, conversation, fields)
        if held is not None and held.move is None:  # in a skill graph, what is chosen depends on the ledger
            chosen = {candidate.skill_id for candidate in (await self.weaver.match(turn)).chosen}
            if chosen <= set(held.present):
                return ()
        try:
            return (await self.weaver.preview(turn)).skills
        except StoreUnavailable:
            return tuple(candidate.skill_id for candidate in (await self.weaver.match(turn)).chosen)

    async def current_policy(self, conversation: str, tools: Sequence[str] | None = None) -> CurrentPolicy:
        """The tool policy now, between two calls of the model."""
        now = await self.weaver.current_policy(conversation, tools=tools, limits=self.limits, placement=self.placement)
        return self._with_last_rules(now)

    async def judge(
        self,
        call: Call,
        conversation: str,
        tools: Sequence[str] | None = None,
        shown: Sequence[PendingCheckpoint] = (),
        now: Injection | CurrentPolicy | None = None,
    ) -> Judged:
        """Whether a call of a host's tool may run; observers are told of one that may not.

        A call whose arguments cannot be read is denied with words for the model. `shown` are the checkpoints that were
        open when the model was called, for `Judged.waited`. The ledger is asked once, or not where the host knows what
        applies `now`.
        """
        if call.problem:
            return Judged(Verdict(Ruling.DENY, call.name, call.problem, Refusal.NOT_ALLOWED))
        now = now or await self.current_policy(conversation, tools)
        verdict = await self.weaver.authorize(now, call.name, call.arguments, call_id=call.id or None)
        waits = tuple(
            one
            for one in now.checkpoints
            if one.blocking and one.name in verdict.checkpoints and read_entry(one.before or "").names(call.name)
        )
        waited = tuple(one for one in shown if one.blocking and one.before and _asks(one.before, call, now.tools))
        return Judged(verdict, waits, waited)

    async def answer(
        self,
        call: Call,
        conversation: str,
        chat: Sequence[HostMessage] | None = None,
        tools: Sequence[str] | None = None,
    ) -> ToolAnswer:
        """The answer to a call of one of skillweave's own tools; `chat` is what the model was sent and said."""
        return await self.weaver.call_tool(
            call.name,
            call.arguments,
            conversation=conversation,
            call_id=call.id,
            transcript=None if chat is None else transcript_of(chat),
            tools=tools,
            limits=self.limits,
            placement=self.placement,
        )

    def _turn(self, chat: Sequence[HostMessage], conversation: str, fields: HostFields) -> Turn:
        named = (*(self.plan.skills if self.plan else ()), *fields.get("named", ()))
        if last_words(chat) is not None:
            known = HostFields(**{**fields, "named": named, "limits": self.limits, "placement": self.placement})
            return turn_from(chat, conversation, **known)
        # A run on instructions alone: nothing can match, and what is engaged stays.
        silent = nothing_said(
            uuid4().hex, conversation, tools=fields.get("tools"), limits=self.limits, placement=self.placement
        )
        return replace(silent, transcript=transcript_of(chat), named=named, memory=fields.get("memory", {}))

    def _with_last_rules(self, now: Ruled) -> Ruled:
        """While the ledger does not answer, the rules of the last call hold beside what is new."""
        if not now.without_ledger or now.tools.closed or now.conversation not in self._last:
            return now
        tools, checkpoints = self._last[now.conversation]
        return replace(
            now,
            tools=limited(now.tools, limits_of(tools)),
            checkpoints=tuple(dict.fromkeys((*now.checkpoints, *checkpoints))),
        )


def _asks(before: str, call: Call, now: ToolPolicy) -> bool:
    alone = ToolPolicy(asks={before: (before,)}, argument_names=now.argument_names)
    return alone.authorize(call.name, call.arguments).ruling is Ruling.ASK


def is_own(name: str) -> bool:
    """Whether the tool is one of skillweave's own, which every adapter answers itself."""
    return name in OWN_TOOLS
