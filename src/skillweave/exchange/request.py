"""What is known of one request on its way: what it asks, what it goes on from, what was put in and answered."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import HostMessage
from skillweave.disclose.block import SkillTools
from skillweave.errors import SkillweaveError, StoreUnavailable
from skillweave.exchange.chain import Link
from skillweave.exchange.contexts import Context, Way
from skillweave.exchange.forms import Form
from skillweave.exchange.history import History
from skillweave.exchange.insertions import Entry
from skillweave.exchange.responses import KEPT_BY
from skillweave.exchange.steps import Asked, Parts, Refused
from skillweave.exchange.streams import Carried, Stream
from skillweave.injection import CurrentPolicy, Injection
from skillweave.weaver import Weaver


@dataclass(slots=True)
class Request:
    """One request and its reply, as far as they have come; an Exchange fills it in, step by step."""

    parts: Parts
    form: Form
    asked: Asked
    counts_only: bool = False
    body: dict[str, Any] = field(default_factory=dict)
    tools: list[Any] = field(default_factory=list)
    names: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    loaded: Mapping[str, Entry] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    context: Context = field(default_factory=lambda: Context(Way.SIDE, "", ""))
    session: str = ""
    own: bool = False
    withheld: tuple[str, ...] = ()
    injection: Injection | None = None
    policy: CurrentPolicy | None = None
    history: History = field(default_factory=lambda: History((), ()))
    hidden: list[Any] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)
    replies: list[dict[str, Any]] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    _bridge: Bridge | None = None
    open: list[str] = field(default_factory=list)
    _marker: str = ""
    holds: bool = False
    reader: Stream | None = None
    _carried: Carried = field(default_factory=Carried)
    _begun: float = field(default_factory=perf_counter)
    _upstream: float = 0.0

    @property
    def at_provider(self) -> bool:
        """Whether the provider keeps the history, so that only what is new comes."""
        return any(self.body.get(one) for one in KEPT_BY) and self.form.own_item

    @property
    def scope(self) -> str:
        """Within what its entries are found."""
        return f"{self.parts.scope.name}|{self.session}"

    @property
    def tenant(self) -> str:
        """Whose conversation it is."""
        return self.parts.weaver.ledger.tenant

    @property
    def bridge(self) -> Bridge:
        """The weaver as this conversation has it."""
        assert self._bridge is not None  # noqa: S101 - made by `Exchange`
        return self._bridge

    def pieces(self, said: Sequence[Any] = ()) -> list[HostMessage]:
        """What the model has been sent until now, and what it said then."""
        return self.form.read([*self.history.items, *self.hidden, *said], self.body)

    @property
    def held_key(self) -> str:
        """The key of a reply that is kept while a person is asked, a streamed one as the bytes that came."""
        return f"{'stream' if self.body.get('stream') else 'held'}:{self.context.turn_id}"

    async def hold(self, reply: Mapping[str, Any]) -> None:
        """Keeps the first reply while a person is asked: the same request again goes on from it, in any process."""
        if not self.replies and self.context.way is not Way.SIDE:
            with suppress(StoreUnavailable):
                raw = self.reader.raw if self.reader is not None else None
                data = {self.held_key: Entry(items=(reply if raw is None else raw.decode("latin-1"),)).to_bytes()}
                await self.parts.insertions.keep_entries(self.scope, data, tenant=self.tenant)
                self.holds = True

    async def kept(self) -> dict[str, Any] | str | None:
        """The reply to this very request that a person is being asked about, if there is one."""
        if self.replies or self.injection is None or not self.injection.tools.asks or self.counts_only:
            return None
        with suppress(StoreUnavailable):
            found = await self.parts.insertions.find_entries(self.scope, [self.held_key], tenant=self.tenant)
            items = Entry.from_bytes(found[self.held_key]).items if found else ()
            self.holds = bool(items)
            return items[0] if items else None
        return None

    @property
    def overhead(self) -> float:
        """Seconds that were added to the time of the upstream until now."""
        return perf_counter() - self._begun - self._upstream

    def headers(self) -> dict[str, str]:
        """What the client is told of the exchange."""
        found = {"Conversation": self.context.conversation, **self.notes}
        if self.injection is not None:
            found["Given"] = ",".join(dict.fromkeys(self.given))
            found["Offered"] = ",".join(self.injection.offered)
        if self.withheld:
            found["Withheld-Tools"] = ",".join(self.withheld)
        found["Overhead-Ms"] = f"{self.overhead * 1000:.1f}"
        return {f"X-Skillweave-{name}": quote(one[:500], safe=" ,:;()'@~/=") for name, one in found.items() if one}

    async def passed_headers(self, why: str, code: str, status: int) -> dict[str, str]:
        """The headers of what passes unjudged, as no skill has rules. Raises Refused where one has."""
        await self.require_no_rules(why, code, status)
        self.notes["Passed"] = why
        return {"X-Skillweave-Passed": quote(why[:300], safe=" ,:;()'`")}

    async def require_no_rules(self, why: str, code: str, status: int) -> None:
        """Raises Refused, with this code and status, where a skill has rules."""
        try:
            snapshot = await self.parts.weaver.skills.snapshot()
        except SkillweaveError as error:
            raise Refused(503, "skills-unavailable", f"nobody knows which tool rules hold: {error}") from error
        if any(skill.has_rules for skill in snapshot.skills.values()):
            raise Refused(status, code, f"tool rules hold here, and this cannot be judged: {why}")


_BRIDGES: WeakKeyDictionary[Weaver, dict[SkillTools, Bridge]] = WeakKeyDictionary()


def bridge_of(weaver: Weaver, tools: SkillTools) -> Bridge:
    """The weaver for models with skillweave's tools, or without them; made once, as what it compiles is kept in it."""
    made = _BRIDGES.setdefault(weaver, {})
    if tools not in made:
        made[tools] = Bridge(weaver)
        made[tools].weaver = weaver.variant(replace(weaver.settings, skill_tools=tools))
    return made[tools]
