"""Skills that all tenants have: read once, however many registries they are in."""

import asyncio

from skillweave.registry.source import Loaded, Source, WrappedSource, version_of


class SharedSource(WrappedSource):
    """A source that is read by the first who asks, and by others only where it changed.

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
