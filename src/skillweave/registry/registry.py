"""The one mutable object: a reference to the newest Snapshot (spec 1.3)."""

import hashlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from skillweave.closing import ClosedOnExit, close_all
from skillweave.diagnostics import Diagnostic
from skillweave.errors import ArtifactNotFound, InvalidSkill, SkillNotFound, first_of
from skillweave.registry.definitions import Contents, Defined, Definition, define
from skillweave.registry.freshness import Freshness, Versions
from skillweave.registry.graphs import choose_graph
from skillweave.registry.last_good import Answer, SourceState, load_source, read_source
from skillweave.registry.merging import (
    Merged,
    Override,
    Precedence,
    add_registered,
    apply_overrides,
    choose_context,
    in_namespace,
    merge,
    merge_agents,
    merge_event_types,
    merge_task_rules,
    require_same_id,
    require_version,
)
from skillweave.registry.snapshot import Changes, Offer, Snapshot, changes_between, is_same
from skillweave.registry.source import Source
from skillweave.skill import ArtifactRef, Skill

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task

T = TypeVar("T")
CODE = "code"
"""The source name of what is registered."""
QUIET_SECONDS = 0.1
"""How long nothing more may change before an edit counts as complete."""
POLL_SECONDS = 1.0
"""How often a source is asked for its version while it is followed."""
_NO_CONTENTS: Contents = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _State:
    """Everything at one moment; swapped as a whole."""

    sources: tuple[SourceState, ...]
    defined: Mapping[str, Defined] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    overrides: Mapping[str, Override] = field(default_factory=dict)
    base: Merged = field(default_factory=Merged)
    merged: Merged = field(default_factory=Merged)
    snapshot: Snapshot = field(default_factory=Snapshot)


class _Run:
    """One refresh that several callers wait for; it begins after the run before it, and after who calls meanwhile."""

    def __init__(
        self, loop: "AbstractEventLoop", work: Callable[[], Coroutine[None, None, Changes]], before: "_Run | None"
    ) -> None:
        self.loop = loop
        self.begun = False
        self.task: Task[Changes] = loop.create_task(
            self._after(work, before if before and before.loop is loop and not before.task.done() else None)
        )
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _after(self, work: Callable[[], Coroutine[None, None, Changes]], before: "_Run | None") -> Changes:
        import asyncio

        if before is not None:
            await asyncio.wait((before.task,))
        await asyncio.sleep(0)  # the tasks that were made in the same moment get to join
        self.begun = True
        return await work()


@dataclass(frozen=True, slots=True)
class Artifact:
    """A tier 3 document with its content; the reference has the size and hash of exactly these bytes."""

    ref: ArtifactRef
    data: bytes

    @property
    def text(self) -> str | None:
        """The content as text, None when it is binary: not UTF-8, or with NUL bytes."""
        if b"\0" in self.data:
            return None
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None


class Registry(ClosedOnExit):
    """All skills of some sources and those registered in code, as snapshots; for any thread and event loop."""

    def __init__(
        self,
        sources: Iterable[Source] = (),
        *,
        precedence: Precedence = Precedence.FIRST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = tuple(sources)
        self._precedence = Precedence(precedence)
        self._lock = threading.Lock()
        self._tickets = 0
        self._state = _State(tuple(SourceState() for _ in self._sources))
        self._run: _Run | None = None
        self._freshness = Freshness(self._sources, self._is_old, self._read_again, clock)
        self.snapshot: Snapshot = self._state.snapshot

    async def refresh(self) -> Changes:
        """Loads every source again, which reads only what changed, and publishes one new snapshot, if any.

        Callers of the same moment share one run, later ones the next. A source that does not answer keeps its skills.
        Raises SourceUnavailable for one that never did, and DuplicateSkill under the precedence `error`.
        """
        import asyncio

        run = self._run
        if run is None or run.begun or run.task.done() or run.loop is not asyncio.get_running_loop():
            run = self._run = _Run(asyncio.get_running_loop(), self._refresh, run)
        # One caller that gives up does not end the run of the others.
        return await asyncio.shield(run.task)

    async def _refresh(self) -> Changes:
        begun = self._freshness.clock()
        ticket, known = self._ticket()
        loading = (load_source(source, state) for source, state in zip(self._sources, known, strict=True))
        answers, failures = await _all_ended(loading)
        if failures:
            raise failures[0]
        changes = self._take(dict(enumerate(answers)), ticket)
        if not any(state.away for state in self._state.sources):
            self._freshness.compared(begun)
        return changes

    async def catch_up(self, seconds: float) -> Diagnostic | None:
        """Reads again what another process changed, for `seconds` at most; returns why it may have missed something."""
        if not self._tickets or not self._freshness.sources:
            return None
        await self._freshness.catch_up(seconds)
        return self._freshness.behind

    def _is_old(self, place: int, version: str | None) -> bool:
        return self._state.sources[place].is_old(version)

    async def _read_again(self, versions: Versions) -> None:
        """Read these sources, which have these versions; raises SourceUnavailable and DuplicateSkill."""
        ticket, known = self._ticket()
        reading = (read_source(self._sources[place], known[place], version) for place, version in versions.items())
        answers, failures = await _all_ended(reading)
        self._take({place: answer for place, answer in zip(versions, answers, strict=True) if answer}, ticket)
        if failures:
            raise failures[0]

    def _ticket(self) -> tuple[int, tuple[SourceState, ...]]:
        """A number for a reading that begins now, and what is known of the sources."""
        with self._lock:
            self._tickets += 1
            return self._tickets, self._state.sources

    def _take(self, answers: Mapping[int, Answer | None], ticket: int) -> Changes:
        with self._lock:
            before = self._state
            given = ((state, answers.get(place)) for place, state in enumerate(before.sources))
            states = tuple(state if answer is None else state.after(*answer, ticket) for state, answer in given)
            if all(now.unchanged_since(then) for now, then in zip(states, before.sources, strict=True)):
                self._state = replace(before, sources=states)
            else:
                self._publish(replace(before, sources=states, base=self._merged(states)))
            return changes_between(before.snapshot, self._state.snapshot)

    def watch(
        self, *, quiet_seconds: float = QUIET_SECONDS, poll_seconds: float = POLL_SECONDS
    ) -> AsyncGenerator[Changes, None]:
        """Follows all sources with files or a version, and refreshes after each change: `async for changes in ...`.

        It begins with a refresh, and ends with `aclose()`. An edit counts after `quiet_seconds` without another;
        versions are asked for every `poll_seconds`. Raises CannotWatch, MissingExtra, and what the first `refresh`
        raises.
        """
        from skillweave.registry.watching import watch_sources

        return watch_sources(self._sources, self.refresh, lambda: self.snapshot, quiet_seconds, poll_seconds)

    def register(self, definition: Definition, artifacts: Contents = _NO_CONTENTS) -> Skill:
        """Adds or replaces a skill in any spelling; it wins over sources. Raises InvalidSkill, DuplicateSkill."""
        defined = define(definition, CODE).with_contents(artifacts)
        skill_id = defined.skill.id
        with self._lock:
            before = self._state
            defined = defined.with_distinct_digest(_known(before, skill_id))
            self._publish(
                replace(
                    before,
                    defined={**before.defined, skill_id: defined},
                    hidden=before.hidden - {skill_id},
                    overrides=_without(before.overrides, skill_id),
                )
            )
        return defined.skill

    def override_version(
        self, skill_id: str, definition: Definition | str, artifacts: Contents = _NO_CONTENTS
    ) -> Skill:
        """Puts another version in a skill's place until it is registered again or removed; returns the skill in use.

        `definition` is a skill in any spelling, or only a version, which keeps all else but the digest. What it
        replaces stays in `shadowed`. Raises SkillNotFound and InvalidSkill.
        """
        if isinstance(definition, str):
            return self._override_version_only(skill_id, require_version(skill_id, definition), artifacts)
        defined = require_same_id(skill_id, define(definition, CODE).with_contents(artifacts))
        with self._lock:
            before = self._state
            defined = defined.with_distinct_digest(_known(before, skill_id))
            overrides = {**_without(before.overrides, skill_id), skill_id: Override(defined)}
            self._publish(replace(before, overrides=overrides, hidden=before.hidden - {skill_id}))
        return defined.skill

    def remove(self, skill_id: str) -> Skill:
        """Take a skill away, wherever it came from, until one of that id is registered; raises SkillNotFound."""
        with self._lock:
            before = self._state
            skill = before.snapshot[skill_id]
            defined, overrides = _without(before.defined, skill_id), _without(before.overrides, skill_id)
            self._publish(replace(before, defined=defined, hidden=before.hidden | {skill_id}, overrides=overrides))
        return skill

    async def read_artifact(self, skill_id: str, artifact_id: str, *, snapshot: Snapshot | None = None) -> Artifact:
        """One artifact with its content, read now, or as of a `snapshot`. Raises SkillNotFound and ArtifactNotFound."""
        state = self._state
        offer = state.merged.winners.get(skill_id)
        if snapshot is not None:
            then = snapshot.offers.get(skill_id)
            offer = offer if offer is not None and then is not None and offer.skill == then.skill else then
        if offer is None:
            raise SkillNotFound(skill_id, state.snapshot if snapshot is None else snapshot)
        ref = next((ref for ref in offer.skill.artifacts if ref.id == artifact_id), None)
        if ref is None:
            raise ArtifactNotFound(skill_id, artifact_id, _what_is_listed(offer.skill))
        data = await offer.reader.read(offer.given, artifact_id)
        return Artifact(replace(ref, size=len(data), content_hash=hashlib.sha256(data).hexdigest()), data)

    async def close(self) -> None:
        """Close the sources that hold a connection; the snapshot stays readable."""
        await close_all(self._sources)

    def _override_version_only(self, skill_id: str, version: str, artifacts: Contents) -> Skill:
        if artifacts:
            raise InvalidSkill(f"artifacts come with a definition of skill {skill_id!r}, not with a version alone")
        with self._lock:
            before = self._state
            if skill_id not in before.snapshot:
                raise SkillNotFound(skill_id, before.snapshot)
            override = replace(before.overrides.get(skill_id, Override()), version=version)
            self._publish(replace(before, overrides={**before.overrides, skill_id: override}))
            return self._state.snapshot[skill_id]

    def _merged(self, states: Iterable[SourceState]) -> Merged:
        offers: list[Offer] = []
        findings: list[Diagnostic] = []
        for source, state in zip(self._sources, states, strict=True):
            given = [Offer(skill, source, skill) for skill in state.good.skills]
            if self._precedence is Precedence.NAMESPACE:
                given, too_long = in_namespace(given, source.name)
                findings += too_long
            offers += given
        merged = merge(offers, self._precedence)
        return replace(merged, diagnostics=(*findings, *merged.diagnostics))

    def _publish(self, state: _State) -> None:
        """Swap in the state with its snapshot; the same snapshot where nothing in it changed. Needs the lock."""
        offers = (Offer(defined.skill, defined, defined.skill) for defined in state.defined.values())
        registered = add_registered(state.base, offers, state.hidden, self._precedence)
        merged = apply_overrides(registered, state.overrides)
        good = [(source.name, one.good) for source, one in zip(self._sources, state.sources, strict=True)]
        events, declared_twice = merge_event_types(good)
        chosen = choose_graph(good, self._precedence)
        agents, about_agents = merge_agents(good, self._precedence, merged.winners)
        context, about_context = choose_context(good)
        before = state.snapshot
        snapshot = Snapshot(
            MappingProxyType({skill_id: offer.skill for skill_id, offer in merged.winners.items()}),
            before.generation + 1,
            merged.shadowed,
            (
                *(finding for _, loaded in good for finding in loaded.diagnostics),
                *(one.away for one in state.sources if one.away),
                *(finding for defined in state.defined.values() for finding in defined.diagnostics),
                *(finding for one in state.overrides.values() if one.defined for finding in one.defined.diagnostics),
                *merged.diagnostics,
                *declared_twice,
                *chosen.findings,
                *about_agents,
                *about_context,
            ),
            events,
            merge_task_rules(good, self._precedence),
            merged.relabelled,
            chosen.graph,
            chosen.location,
            agents,
            MappingProxyType(merged.winners),
            context,
        )
        unchanged = before.generation > 0 and is_same(before, snapshot)
        self._state = replace(state, merged=merged, snapshot=before if unchanged else snapshot)
        self.snapshot = self._state.snapshot


async def _all_ended(
    loading: Iterable[Coroutine[None, None, Answer]],
) -> tuple[list[Answer | None], list[BaseException]]:
    """What was read, None for what could not be, and the failures; all end first, so that none goes on unobserved."""
    import asyncio

    answers = await asyncio.gather(*loading, return_exceptions=True)
    failures = [answer for answer in answers if isinstance(answer, BaseException)]
    return [None if isinstance(answer, BaseException) else answer for answer in answers], failures


def _without(mapping: Mapping[str, T], skill_id: str) -> dict[str, T]:
    return {known: value for known, value in mapping.items() if known != skill_id}


def _known(state: _State, skill_id: str) -> Iterator[Skill]:
    held = (state.merged, state.base)
    yield from (merged.winners[skill_id].skill for merged in held if skill_id in merged.winners)
    yield from (skill for merged in held for skill in merged.shadowed if skill.id == skill_id)


def _what_is_listed(skill: Skill) -> str:
    ids = [repr(ref.id) for ref in skill.artifacts]
    return f"the skill lists {first_of(ids, 10)}" if ids else "the skill has no artifacts"
