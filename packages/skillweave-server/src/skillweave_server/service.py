"""The parts of the service, the Weaver of each tenant, and for which conversations verdicts wait."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from skillweave import Budget, StoreUnavailable, Weaver, WhenUnknown
from skillweave.approvals import ApprovalBook, ApprovalDesk
from skillweave.errors import Contended
from skillweave.events import EventStream
from skillweave.ledger import Breaker, WorkingMemory
from skillweave.registry import WritableSource
from skillweave.values import ClosedOnExit, close_all
from skillweave_server.keyring import KeyRing
from skillweave_server.meters import Held, Meters
from skillweave_server.options import ServiceOptions
from skillweave_server.rates import Rates, SharedCounters
from skillweave_server.shares import Shares
from skillweave_stores.access import KeyStore

log = logging.getLogger("skillweave_server")

ESCALATE_EVERY_SECONDS = 60.0
"""Seconds between two looks for approvals whose time is over."""
MOST_TENANTS = 1_000
"""Tenants whose skills are held at once; of more, those that were used longest ago are read again when they come."""
WAITING_SECONDS = 1.0
"""How long an answer of the book of approvals counts."""
MOST_COUNTED = 1_000
"""Tenants whose approvals are counted."""
MOST_BUDGETS = 32
"""Budgets other than the service's own whose Weavers are kept for one tenant."""


@dataclass(frozen=True, slots=True)
class _Asked:
    answer: "asyncio.Task[frozenset[str]]"
    until: float


class Waiting:
    """By tenant, the conversations with a verdict that they do not have yet, as they were at most a second ago."""

    def __init__(self, book: ApprovalBook, seconds: float = WAITING_SECONDS) -> None:
        self._book, self._seconds, self._breaker = book, seconds, Breaker()
        self._asked: OrderedDict[str, _Asked] = OrderedDict()

    async def of(self, tenant: str) -> Set[str]:
        """Those of the tenant; one trip for all who ask at once. Raises StoreUnavailable."""
        loop = asyncio.get_running_loop()
        known = self._asked.get(tenant)
        if known is None or known.until <= loop.time() or known.answer.get_loop() is not loop:
            task = loop.create_task(self._read(tenant))
            known = self._asked[tenant] = _Asked(task, loop.time() + self._seconds)
            self._asked.move_to_end(tenant)
            if len(self._asked) > MOST_TENANTS:
                self._asked.popitem(last=False)
        # Whoever goes away takes the answer from nobody else.
        return await asyncio.shield(known.answer)

    async def _read(self, tenant: str) -> frozenset[str]:
        read = partial(self._book.conversations_waiting, tenant=tenant)
        try:
            return await (self._breaker.ask(read) if self._breaker.troubled else read())
        except StoreUnavailable as error:
            self._breaker.failed(error)
            raise

    def forget(self, tenant: str) -> None:
        """Ask anew at the next turn: a verdict has come, or has been applied."""
        self._asked.pop(tenant, None)


@dataclass(slots=True)
class _Tenant:
    weaver: Weaver
    budgets: "OrderedDict[Budget, Weaver]" = field(default_factory=OrderedDict)


@dataclass(slots=True)
class Service(ClosedOnExit):
    """What every endpoint works with; `make_weaver` makes the Weaver of a tenant, at its first request.

    `skills` is the store that skills are published to, None where they are only read. `keys` are the API keys, None
    for a service that is open to everybody who reaches it. `options` are the limits, `counters` count the requests of
    all replicas, None where this is the only one. `shared` is what the Weavers of all tenants have in common, to be
    closed with the service. `checks` ask each part that it cannot work without, by what people call it. Inside
    `reading_ahead` the read of a working memory may bring the State of its conversation in the same trip. `leaving` is
    set when the service is about to end: streams end then, so that their readers go on elsewhere.
    """

    make_weaver: Callable[[str], Weaver]
    memory: WorkingMemory
    events: EventStream
    approvals: ApprovalBook
    keys: KeyStore | None = None
    skills: WritableSource | None = None
    options: ServiceOptions = field(default_factory=ServiceOptions)
    when_unknown: WhenUnknown = WhenUnknown.DENY
    counters: SharedCounters | None = None
    shared: tuple[object, ...] = ()
    checks: Mapping[str, Callable[[], Awaitable[object]]] = field(default_factory=dict)
    reading_ahead: Callable[[], AbstractContextManager[None]] = nullcontext
    leaving: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    ring: KeyRing | None = field(init=False)
    rates: Rates = field(init=False)
    shares: Shares = field(init=False)
    recalling: Breaker = field(init=False, default_factory=Breaker)
    """Whether the working memory is silent."""
    meters: Meters = field(init=False, default_factory=Meters)
    waiting: Waiting = field(init=False)
    _tenants: "OrderedDict[str, _Tenant]" = field(init=False, default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.ring = None if self.keys is None else KeyRing(self.keys, self.options.key_seconds)
        self.rates = Rates(self.options, self.counters)
        self.shares = Shares(self.options.requests_at_once)
        self.waiting = Waiting(self.approvals)

    def weaver(self, tenant: str, budget: Budget | None = None) -> Weaver:
        """The Weaver of the tenant, for a turn with that budget where one is given."""
        known = self._tenants.get(tenant)
        if known is None:
            known = self._tenants[tenant] = _Tenant(self.make_weaver(tenant))
            if len(self._tenants) > MOST_TENANTS:
                self._tenants.popitem(last=False)
        self._tenants.move_to_end(tenant)
        if budget is None or budget == known.weaver.settings.budget:
            return known.weaver
        varied = known.budgets.get(budget)
        if varied is None:
            varied = known.weaver.variant(replace(known.weaver.settings, budget=budget))
            known.budgets[budget] = varied
            if len(known.budgets) > MOST_BUDGETS:
                known.budgets.popitem(last=False)
        known.budgets.move_to_end(budget)
        return varied

    async def tenants(self) -> tuple[str, ...]:
        """The default tenant, and every one that has or had a key, sorted; raises StoreUnavailable."""
        keys = () if self.keys is None else await self.keys.list()
        return tuple(sorted({"", *(key.tenant for key in keys)}))

    async def metrics(self) -> bytes:
        """What the service counts, in Prometheus' format."""
        held = Held(self.weaver("").ledger.store, self.rates.unanswered, len(self._tenants))
        return await self.meters.text(held, self._pending if hasattr(self.approvals, "count_pending") else None)

    async def _pending(self) -> int:
        count: Callable[[Sequence[str]], Awaitable[int]] = self.approvals.count_pending  # type: ignore[attr-defined]
        return await count((await self.tenants())[:MOST_COUNTED])

    async def make_ready(self) -> None:
        """Read and compile the default tenant's skills, so that the first turn does not wait for them."""
        await self.weaver("").skills.make_ready()

    async def close(self) -> None:
        """Give back all connections."""
        # Weavers of all tenants share their store: what each closes is closed once and no error is lost.
        weavers = [one.weaver for one in self._tenants.values()]
        results = await asyncio.gather(*(one.close() for one in weavers), return_exceptions=True)
        await close_all((self.events, self.memory, self.approvals, self.keys, self.skills, self.rates, *self.shared))
        for result in results:
            if isinstance(result, BaseException):
                raise result


def desk_of(service: Service, tenant: str) -> ApprovalDesk:
    """Where the tenant's questions are asked and answered."""
    return ApprovalDesk(service.approvals, service.weaver(tenant), service.events)


async def apply_waiting(service: Service, tenant: str, conversation: str) -> bool | None:
    """Have the conversation know what people decided, where a crash came between; whether anything waited.

    None where that is not known.

    A verdict waits where a crash, or a ledger that was silent, came before its answer; a turn may go on without it for
    a second, as it may before the crash. While the book does not answer, or others of the conversation are faster, the
    turn goes on without too: what a person has not said yes to asks again.
    """
    try:
        if conversation not in await service.waiting.of(tenant):
            return False
        service.waiting.forget(tenant)
        return await desk_of(service, tenant).apply_waiting(conversation)
    except (StoreUnavailable, Contended) as error:
        log.warning("verdicts that may wait for conversation %r were not applied: %r", conversation, str(error))
        return None


async def escalate_due(service: Service) -> int:
    """Hand on the approvals of all tenants whose time is over; how many there were."""
    return sum([len(await service.approvals.escalate(tenant=tenant)) for tenant in await service.tenants()])


@asynccontextmanager
async def escalating(service: Service, every_seconds: float = ESCALATE_EVERY_SECONDS) -> AsyncIterator[None]:
    """Hand them on again and again while the block runs; any number of replicas may."""
    task = asyncio.create_task(_keep_escalating(service, every_seconds))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _keep_escalating(service: Service, every_seconds: float) -> None:
    while True:
        await asyncio.sleep(every_seconds)
        try:
            await escalate_due(service)
        except Exception:
            # The next minute tries again, whatever it was: one failure must not end it for all time.
            log.exception("approvals whose time is over were not handed on")
