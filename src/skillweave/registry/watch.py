"""Following the files of skills: each edit becomes a snapshot, and is told (spec 1.3)."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path

from skillweave.errors import CannotWatch, DuplicateSkill, MissingExtra
from skillweave.registry.changes import Changes, changes_between
from skillweave.registry.look_out import LookOut, Vanished
from skillweave.registry.places import places_of
from skillweave.registry.snapshot import Snapshot
from skillweave.registry.source import Source, Watched

log = logging.getLogger("skillweave")

LONGEST_QUIET = 5.0
_BEFORE_ANOTHER_TRY = 0.05


def watch_sources(
    sources: Sequence[Source],
    refresh: Callable[[], Awaitable[object]],
    snapshot: Callable[[], Snapshot],
    quiet_seconds: float,
) -> AsyncGenerator[Changes, None]:
    """What differs from the snapshot that was told before, after each change of the sources' files.

    Raises CannotWatch when no source has any, MissingExtra, and ValueError for a quiet time out of bounds.
    """
    watched = tuple(path for source in sources if isinstance(source, Watched) for path in source.watched)
    if not watched:
        names = ", ".join(repr(source.name) for source in sources) or "there is none"
        raise CannotWatch(f"no source can be followed ({names}); name a folder or a pack, or call `refresh`")
    if not 0 < quiet_seconds <= LONGEST_QUIET:
        raise ValueError(f"quiet_seconds is {quiet_seconds}; give more than 0 and at most {LONGEST_QUIET:g}")
    try:
        import watchfiles  # noqa: F401 - the threads that need it have nobody to tell that it is missing
    except ImportError:
        raise MissingExtra("following the files of skills", "watchfiles", "watch") from None
    return _follow(watched, refresh, snapshot, quiet_seconds)


async def _follow(
    watched: Sequence[Path],
    refresh: Callable[[], Awaitable[object]],
    snapshot: Callable[[], Snapshot],
    quiet_seconds: float,
) -> AsyncGenerator[Changes, None]:
    """The look-out is made anew after every change, as folders come and go, and before the files are read again.

    So what changes meanwhile is read, or waits at the look-out.
    """
    told = snapshot()
    loaded = False
    while True:
        places = await asyncio.to_thread(places_of, watched)
        try:
            async with LookOut(places, quiet_seconds) as look_out:
                await _refreshed(refresh) if loaded else await refresh()
                loaded = True
                now = snapshot()
                changes, told = changes_between(told, now), now
                if changes:
                    yield changes
                await look_out.changed()
        except Vanished:
            await asyncio.sleep(_BEFORE_ANOTHER_TRY)


async def _refreshed(refresh: Callable[[], Awaitable[object]]) -> None:
    try:
        await refresh()
    except DuplicateSkill as error:
        # One edit must not end the watch: the skills stay as they were, as with every other broken edit.
        log.warning("the skills stay as they were: %s", error)
