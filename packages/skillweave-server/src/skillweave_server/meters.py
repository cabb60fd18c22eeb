"""What the service counts, for Prometheus: names and figures, never an id of a conversation, a tenant or a person."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from skillweave import Injection, StoreUnavailable
from skillweave.stores import SplitStore

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
"""What stands for a method, or a path, that the service does not have: there is no end of them."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The limits of the histogram of latencies."""
WAITING_SECONDS = 15.0
"""Seconds for which the number of approvals that wait is kept."""
_ASKING_SECONDS = 2.0


class Held(NamedTuple):
    """What is looked at when somebody asks: the store of conversations, requests uncounted, tenants held."""

    store: object
    uncounted: int
    tenants: int


class Meters:
    """Counters of one service, in a registry of its own; `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._clock = clock
        self._requests = Histogram(
            "skillweave_http_request_seconds",
            "Requests and how long their answers took, to the end of a stream",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._turns = self._counter("turns", "Turns: given a text, given nothing, or not stored", ("outcome",))
        self._tokens = self._counter("tokens_injected", "Tokens of skill text that turns gave")
        self._limited = self._counter("rate_limited", "Requests that came too often")
        self._unknown = self._counter("authentication_failures", "Requests without a key that opens")
        self._failures = self._counter("store_failures", "Requests that a store did not answer, and turns not stored")
        self.streams = self._gauge("streams_open", "Streams of events that are read now")
        self.events = self._counter("events_sent", "Events that were sent to readers of streams")
        self._uncounted = self._gauge("rate_limit_unanswered", "Requests that the shared rate limit did not count")
        self._approvals = self._gauge("approvals_waiting", "Approvals that nobody has decided, 10,000 at most")
        self._waiting = self._gauge("decisions_waiting", "Decisions that wait for their log")
        self._dropped = self._gauge("decisions_dropped", "Turns whose decisions were dropped, as their log was silent")
        self._tenants = self._gauge("tenants_held", "Tenants whose skills are held")
        self._exchanges = Histogram(
            "skillweave_exchange_overhead_seconds",
            "Requests to a model through the gateway, and the time that was added before their answer",
            ("form", "way"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._rounds = self._counter("exchange_rounds", "Rounds with a model that clients did not see", ("form",))
        self._passed = self._counter("exchange_passed", "Requests to a model that went on without skills", ("form",))
        self._asked_at = float("-inf")

    def answered(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Count a request, by the template of its path."""
        known = method if method in METHODS else OTHER
        self._requests.labels(known, route or OTHER, str(status)).observe(seconds)
        if status == 401:
            self._unknown.inc()
        elif status == 429:
            self._limited.inc()
        elif status == 503:
            self._failures.inc()

    def turn(self, injection: Injection) -> None:
        """Count a turn by what became of it."""
        if injection.revision is None:
            self._failures.inc()
            outcome = "unstored"
        else:
            outcome = "given" if injection.messages else "nothing"
        self._turns.labels(outcome).inc()
        self._tokens.inc(injection.tokens.injected)

    def exchanged(self, form: str, way: str, seconds: float) -> None:
        """Count a request to a model, by its form and by how it stands to what came before it."""
        self._exchanges.labels(form, way).observe(seconds)

    def exchange_over(self, facts: Mapping[str, Any]) -> None:
        """Count what became of a request to a model, when its answer is over."""
        self._rounds.labels(facts["form"]).inc(facts["rounds"])
        self._passed.labels(facts["form"]).inc(facts["passed"])

    async def text(self, held: Held, count_pending: Callable[[], Awaitable[int]] | None = None) -> bytes:
        """All of them in Prometheus' format; counts approvals that wait at most every 15 seconds."""
        if isinstance(held.store, SplitStore):
            self._waiting.set(held.store.waiting)
            self._dropped.set(held.store.dropped)
        self._uncounted.set(held.uncounted)
        self._tenants.set(held.tenants)
        if count_pending is not None and self._clock() >= self._asked_at + WAITING_SECONDS:
            self._asked_at = self._clock()
            try:
                async with asyncio.timeout(_ASKING_SECONDS):
                    self._approvals.set(await count_pending())
            except (StoreUnavailable, TimeoutError):
                # No number is better than an old one that looks fine.
                self._approvals.set(float("nan"))
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
        return Counter(f"skillweave_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"skillweave_{name}", text, registry=self.registry)
