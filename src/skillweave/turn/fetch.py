"""Fetch: read the artifacts and the entity context that are missing, with one deadline (spec 5)."""

import asyncio
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import TypeVar

from skillweave.decisions import Decision, Outcome
from skillweave.disclose.block import Rung
from skillweave.disclose.render import Inlined
from skillweave.errors import SkillweaveError
from skillweave.knowledge.context import ContextSource, EntityContext
from skillweave.registry import Registry
from skillweave.skill import ArtifactRef, Skill
from skillweave.turn.admit import Plan, Wanted, artifacts_to_show


def _no_artifacts() -> Mapping[str, tuple[Inlined, ...]]:
    return MappingProxyType({})


def _no_contexts() -> Mapping[str, EntityContext]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Fetched:
    """Contents by skill id, and a decision for each that could not be had in time."""

    artifacts: Mapping[str, tuple[Inlined, ...]] = field(default_factory=_no_artifacts)
    contexts: Mapping[str, EntityContext] = field(default_factory=_no_contexts)
    decisions: tuple[Decision, ...] = ()

    @property
    def documents(self) -> Mapping[tuple[str, str], Inlined]:
        """The artifacts by skill and id."""
        return {(skill, inlined.ref.id): inlined for skill, found in self.artifacts.items() for inlined in found}


T = TypeVar("T")

MOST_INLINE_BYTES = 256 * 1024
"""So much of a skill's documents is read to stand in its block; the others are listed, and read on demand."""
MOST_READ_BYTES = 1024 * 1024
"""The largest artifact that is read as text for a model."""
_Key = tuple[str, str]


async def fetch(plan: Plan, registry: Registry, context: ContextSource | None, seconds: float) -> Fetched:
    """Read what is missing; what fails or is late becomes a decision `failed`, and the turn goes on without it."""
    wanted = {(one.skill.id, ref.id): ref for one in plan.wanted for ref in _artifacts(one)}
    reading: dict[_Key, Awaitable[Inlined]] = {key: _read(registry, key[0], ref) for key, ref in wanted.items()}
    assembling: dict[_Key, Awaitable[EntityContext]] = _contexts(plan, context)
    too_large = tuple(_too_large(plan))
    if not reading and not assembling:
        return Fetched(decisions=too_large)
    done, failures = await _before(seconds, {**reading, **assembling})
    inlined: dict[str, list[Inlined]] = {}
    contexts: dict[str, EntityContext] = {}
    for (skill_id, _), content in done.items():
        if isinstance(content, Inlined):
            inlined.setdefault(skill_id, []).append(content)
        elif isinstance(content, EntityContext):
            contexts[skill_id] = content
    return Fetched(
        MappingProxyType({skill_id: tuple(found) for skill_id, found in inlined.items()}),
        MappingProxyType(contexts),
        (*failures, *_omissions(contexts), *too_large),
    )


def _artifacts(wanted: Wanted) -> Iterator[ArtifactRef]:
    """What the model asked to read, and what may stand in the skill's block if there is room for it."""
    asked = {read.artifact for read in wanted.reads}
    yield from (ref for ref in wanted.skill.artifacts if ref.id in asked)
    if wanted.held or wanted.in_sections or (wanted.present is not None and wanted.present >= Rung.FULL):
        return
    yield from _inlinable(wanted.skill)


def _inlinable(skill: Skill) -> Sequence[ArtifactRef]:
    documents = artifacts_to_show(skill)
    sizes = accumulate(ref.size for ref in documents)
    return [ref for ref, size in zip(documents, sizes, strict=True) if size <= MOST_INLINE_BYTES]


def _too_large(plan: Plan) -> Iterator[Decision]:
    for wanted in plan.wanted:
        if wanted.present is None and not wanted.held and not wanted.in_sections:
            left = artifacts_to_show(wanted.skill)[len(_inlinable(wanted.skill)) :]
            if left:
                reason = f"{left[0].id} ({left[0].size:,} bytes)"
                more = f" and {len(left) - 1} more are" if len(left) > 1 else " is"
                limit = f"with them the block would hold over {MOST_INLINE_BYTES:,} bytes of documents"
                yield Decision(wanted.skill.id, Outcome.OVER_BUDGET, "fetch", f"{reason}{more} only listed: {limit}")


async def _read(registry: Registry, skill_id: str, ref: ArtifactRef) -> Inlined:
    _require_readable(ref)
    artifact = await registry.read_artifact(skill_id, ref.id)
    _require_readable(artifact.ref)  # it may have grown since it was listed
    text = artifact.text
    if text is None:
        raise SkillweaveError("it is no UTF-8 text; it stays listed with its size")
    return Inlined(replace(ref, content_hash=artifact.ref.content_hash), text)


def _require_readable(ref: ArtifactRef) -> None:
    if ref.size > MOST_READ_BYTES:
        raise SkillweaveError(f"it has {ref.size:,} bytes, more than the {MOST_READ_BYTES:,} that are read as text")


def _contexts(plan: Plan, context: ContextSource | None) -> dict[_Key, Awaitable[EntityContext]]:
    entity = plan.entity
    if context is None or entity is None:
        return {}
    return {
        (one.skill.id, f"context of {entity}"): context.assemble(entity, one.skill.domain_tags)
        for one in plan.wanted
        if one.skill.domain_tags and not one.held
    }


async def _before(
    seconds: float, work: Mapping[_Key, Awaitable[object]]
) -> tuple[dict[_Key, object], tuple[Decision, ...]]:
    tasks = {key: asyncio.ensure_future(awaitable) for key, awaitable in work.items()}
    try:
        await asyncio.wait(tasks.values(), timeout=seconds)
    finally:
        for task in tasks.values():
            task.cancel()
    done: dict[_Key, object] = {}
    failures: list[Decision] = []
    for key, task in tasks.items():
        reason = _failure(task, seconds)
        if reason is None:
            done[key] = task.result()
        else:
            failures.append(Decision(key[0], Outcome.FAILED, "fetch", f"{key[1]} is left out: {reason}"))
    return done, tuple(failures)


def _failure(task: "asyncio.Future[object]", seconds: float) -> str | None:
    if not task.done() or task.cancelled():
        return f"it did not come within {seconds * 1000:.0f} ms"
    error = task.exception()
    # Guests implement these ports: whatever they raise is reported here, and costs their tier, never the turn.
    return None if error is None else f"{type(error).__name__}: {error}"


def _omissions(contexts: Mapping[str, EntityContext]) -> tuple[Decision, ...]:
    return tuple(
        Decision(skill_id, Outcome.FAILED, "fetch", f"context of {context.entity}: {omitted}")
        for skill_id, context in contexts.items()
        for omitted in context.omitted
    )
