"""The skills of all tenants, which are read once, and those of one: the same ones until it publishes its own."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from skillweave import Diagnostic, Registry, Source
from skillweave.registry import (
    NO_SKILLS,
    Artifact,
    Changes,
    Loaded,
    Snapshot,
    WrappedSource,
    changes_between,
    version_of,
)


class SharedSource(WrappedSource):
    """Skills that all tenants have: a source that is read by the first who asks, and by others only where it changed.

    Whoever has its newest answer and loads again wants a newer one; whoever has none or an older one gets the newest.
    For one event loop.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._newest: Loaded | None = None
        self._version: str | None = None
        self._reading = asyncio.Lock()

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The newest answer of the wrapped source; raises SourceUnavailable."""
        async with self._reading:
            newest = self._newest
            if newest is not None and previous is not newest and not await self._has_changed():
                return newest
            # Asked before the load: a change in between is loaded again rather than missed.
            version = await version_of(self.source)
            self._newest = await self.source.load(newest)
            self._version = version
            return self._newest

    async def _has_changed(self) -> bool:
        """Whether the source says that it did; one without a version is read again only where somebody asks for it."""
        version = await version_of(self.source)
        return version is not None and version != self._version


class CommonRegistry(Registry):
    """The skills of all tenants, loaded by the first who needs them."""

    def __init__(self, sources: Iterable[Source]) -> None:
        super().__init__(sources)
        self._is_loaded = False

    async def ready(self) -> Snapshot:
        """The newest snapshot; raises SourceUnavailable where a source was never read."""
        if not self._is_loaded:
            await self.refresh()
            self._is_loaded = True
        return self.snapshot


class TenantRegistry(Registry):
    """Skills of a tenant before those of all tenants.

    While there are none of its own its snapshot is the very one of all tenants, so that nothing is compiled for it.
    """

    def __init__(self, own: Source, sources: Iterable[Source], common: CommonRegistry) -> None:
        super().__init__((own, *sources))
        self._common = common
        self._own: Registry | None = Registry((own,), clock=self._now)

    async def refresh(self) -> Changes:
        """Read again what changed; raises as `Registry.refresh`."""
        if self._own is None:
            return await super().refresh()
        before = self.snapshot
        await self._own.refresh()
        await self._common.ready()
        await self._follow(self._own)
        return changes_between(before, self.snapshot)

    async def catch_up(self, seconds: float) -> Diagnostic | None:
        """Read again what another process changed; why this may have missed it."""
        if self._own is None:
            return await super().catch_up(seconds)
        behind = await self._own.catch_up(seconds)
        behind = await self._common.catch_up(seconds) or behind
        await self._follow(self._own)
        return behind

    async def read_artifact(self, skill_id: str, artifact_id: str, *, snapshot: Snapshot | None = None) -> Artifact:
        """One artifact with its content; raises SkillNotFound and ArtifactNotFound."""
        return await super().read_artifact(skill_id, artifact_id, snapshot=snapshot or self.snapshot)

    def _now(self) -> float:
        """The time by which versions are compared, the same for what is the tenant's own."""
        return self._freshness.clock()

    async def _follow(self, own: Registry) -> None:
        """Show what all tenants have, or begin with what is the tenant's own."""
        found = own.snapshot
        # Whether there is nothing, and nothing else to say about it: most tenants have no skills of their own.
        if not (found.skills or found.agents) and all(one.code == NO_SKILLS.name for one in found.diagnostics):
            self.snapshot = self._common.snapshot
            return
        self._own = None
        # Numbers of generations go on: whoever holds an answer of the last one sees that it is old.
        self._state = replace(self._state, snapshot=Snapshot(generation=self.snapshot.generation))
        await super().refresh()
