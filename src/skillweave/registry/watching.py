"""Following the sources of skills: each change becomes a snapshot, and is told (spec 1.3)."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from skillweave.errors import CannotWatch, DuplicateSkill, SourceUnavailable, needing
from skillweave.registry.snapshot import Changes, Snapshot, changes_between
from skillweave.registry.source import IGNORED_FOLDERS, Source, Versioned, watched_of

log = logging.getLogger("skillweave")

LONGEST_QUIET = 5.0
LONGEST_POLL = 3600.0
_BEFORE_ANOTHER_TRY = 0.05
_LONGEST_BURST = 20
"""A change that goes on for that many quiet times is told before it is over."""
MOST_FOLDERS = 20_000
WHOLE_TREES = sys.platform in ("darwin", "win32")
"""Whether the system follows a folder with all below it. On Linux it follows single folders, and `watchfiles` would go
through ignored ones and through links, which might lead anywhere."""
_MOST_LINKS = 40
_ANY_NAME: frozenset[str] = frozenset()


def watch_sources(
    sources: Sequence[Source],
    refresh: Callable[[], Awaitable[object]],
    snapshot: Callable[[], Snapshot],
    quiet_seconds: float,
    poll_seconds: float,
) -> AsyncGenerator[Changes, None]:
    """What differs after each change. Raises CannotWatch, MissingExtra, and ValueError for a time out of bounds."""
    watched = tuple(path for source in sources for path in watched_of(source))
    versioned = tuple(source for source in sources if isinstance(source, Versioned))
    if not watched and not versioned:
        names = ", ".join(repr(source.name) for source in sources) or "there is none"
        raise CannotWatch(f"no source can be followed ({names}); name a folder or a pack, or call `refresh`")
    if not 0 < quiet_seconds <= LONGEST_QUIET:
        raise ValueError(f"quiet_seconds is {quiet_seconds}; give more than 0 and at most {LONGEST_QUIET:g}")
    if not 0 < poll_seconds <= LONGEST_POLL:
        raise ValueError(f"poll_seconds is {poll_seconds}; give more than 0 and at most {LONGEST_POLL:g}")
    if watched:
        with needing("watch", "following the files of skills"):
            import watchfiles  # noqa: F401 - the threads that need it have nobody to tell that it is missing
    return _follow(_Followed(watched, versioned, quiet_seconds, poll_seconds), refresh, snapshot)


@dataclass(frozen=True, slots=True)
class _Followed:
    """What is followed: the files of some sources, and the versions of others."""

    watched: Sequence[Path]
    versioned: Sequence[Versioned]
    quiet_seconds: float
    poll_seconds: float

    async def begin(self) -> "FileWatcher":
        """Return what follows from when it is entered, in files and versions. Raises CannotWatch."""
        versions = await self._versions()
        if not self.watched and versions.count(None) == len(versions):
            raise CannotWatch("no source can say whether it changed; call `refresh` instead")
        places = await asyncio.to_thread(places_of, self.watched) if self.watched else Places()
        return FileWatcher(places, self.quiet_seconds, partial(self._other_versions, versions))

    async def _other_versions(self, versions: list[str | None]) -> None:
        """Wait until the sources have other versions; without any for ever."""
        while True:
            await asyncio.sleep(self.poll_seconds)
            if await self._versions() != versions:
                return

    async def _versions(self) -> list[str | None]:
        return [await _version(source) for source in self.versioned]


async def _version(source: Versioned) -> str | None:
    try:
        return await source.version()
    except SourceUnavailable as error:
        # Another text than any version, so that both its going and its coming back are changes.
        return f"unavailable: {error}"


async def _follow(
    followed: _Followed, refresh: Callable[[], Awaitable[object]], snapshot: Callable[[], Snapshot]
) -> AsyncGenerator[Changes, None]:
    """Watches anew after each change, before the sources are read again, so that no change is missed."""
    told = snapshot()
    loaded = False
    while True:
        try:
            async with await followed.begin() as watcher:
                try:
                    await refresh()
                except DuplicateSkill as error:
                    if not loaded:
                        raise
                    # One edit must not end the watch: the skills stay as they were, as with every other broken edit.
                    log.warning("the skills stay as they were: %s", error)
                loaded = True
                now = snapshot()
                changes, told = changes_between(told, now), now
                if changes:
                    yield changes
                await watcher.changed()
        except Vanished:
            await asyncio.sleep(_BEFORE_ANOTHER_TRY)


class Vanished(Exception):
    """One of the places went away before it could be followed."""


class FileWatcher:
    """Follows places inside `async with`, until nothing changed for `quiet_seconds` or `other_change` ends."""

    def __init__(
        self,
        places: "Places",
        quiet_seconds: float,
        other_change: Callable[[], Coroutine[None, None, None]] | None = None,
    ) -> None:
        self._other_change = other_change
        self._places = places
        self._quiet = max(1, round(quiet_seconds * 1000))
        self._waiting: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "FileWatcher":
        """Raises Vanished, and CannotWatch when the system lets no more be watched."""
        level, deep = tuple(self._places.level), tuple(self._places.deep)
        followed = [self._first(paths, recursive=paths is deep) for paths in (level, deep) if paths]
        self._waiting = [
            asyncio.ensure_future(one) for one in (*followed, *([self._other_change()] if self._other_change else []))
        ]
        # In its first step each takes its place, or fails.
        await asyncio.sleep(0)
        failure = next((one.exception() for one in self._waiting if one.done()), None)
        if failure is None:
            return self
        await self.__aexit__()
        if isinstance(failure, FileNotFoundError):
            raise Vanished
        raise CannotWatch(
            f"the folders of skills cannot be followed: {failure}; let the system watch more files (on Linux "
            "fs.inotify.max_user_watches and max_user_instances), or set WATCHFILES_FORCE_POLLING=1"
        ) from failure

    async def __aexit__(self, *_: object) -> None:
        for one in self._waiting:
            one.cancel()
        await asyncio.wait(self._waiting)

    async def changed(self) -> None:
        """Wait until something changes; at once when it did already."""
        done, _ = await asyncio.wait(self._waiting, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            if (error := one.exception()) is not None:
                # It cannot tell what it saw there: a file name that is not UTF-8.
                log.warning("something changed among the files of skills: %s", error)

    async def _first(self, paths: tuple[str, ...], *, recursive: bool) -> None:
        from watchfiles import awatch

        changes = awatch(
            *paths,
            watch_filter=lambda _, path: self._places.matters(path),
            step=self._quiet,
            debounce=self._quiet * _LONGEST_BURST,
            recursive=recursive,
            ignore_permission_denied=recursive,  # without this it says when a place is gone
        )
        async with aclosing(changes):
            await anext(changes)


@dataclass(frozen=True, slots=True)
class Places:
    """Folders followed with all below (`deep`), and others by `level`, with the names that count (none: all)."""

    deep: frozenset[str] = frozenset()
    level: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def matters(self, path: str) -> bool:
        """Whether a change of that path can change what is followed; one of an unknown place may."""
        above = path
        while above not in self.deep:
            higher = os.path.dirname(above)  # noqa: PTH120 - many paths in a row
            if higher == above:
                return self._matters_there(*os.path.split(path))
            above = higher
        return IGNORED_FOLDERS.isdisjoint(Path(path[len(above) :]).parts)

    def _matters_there(self, folder: str, name: str) -> bool:
        names = self.level.get(folder, _ANY_NAME)
        return name in names or (not names and name not in IGNORED_FOLDERS)


def places_of(watched: Iterable[Path]) -> Places:
    """Where to look so that no change is missed. Raises CannotWatch for a folder with too many below it."""
    deep: set[str] = set()
    names: dict[str, set[str]] = {}
    folders: set[str] = set()
    for path in map(str, watched):
        for point in _points(path):
            folder, name = _nearest(point)
            names.setdefault(folder, set()).add(name)
        if not os.path.isdir(path):  # noqa: PTH112
            continue
        if WHOLE_TREES:
            deep.add(path)
        else:
            folders.update(_folders(path))
    level = {folder: frozenset(there) for folder, there in names.items() if there != {""}}
    readable = {
        folder: there for folder, there in {**level, **dict.fromkeys(folders, _ANY_NAME)}.items() if _readable(folder)
    }
    if not (deep or readable):
        raise CannotWatch("neither the folders of skills nor those above them can be read; give the process the right")
    return Places(frozenset(deep), readable)


def _points(path: str) -> Iterator[str]:
    """A path, each link on the way to what it means, and that itself: where something new might be put."""
    for _ in range(_MOST_LINKS):
        yield path
        from_the_top = [*(str(above) for above in reversed(Path(path).parents)), path]
        link = next((above for above in from_the_top if os.path.islink(above)), None)  # noqa: PTH114
        if link is None:
            return
        yield link
        try:
            target = os.path.join(os.path.dirname(link), os.readlink(link))  # noqa: PTH115, PTH118, PTH120
        except OSError:
            return
        path = os.path.normpath(target + path[len(link) :])


def _nearest(path: str) -> tuple[str, str]:
    """The lowest folder above the path that is there, and the name in it that leads to the path."""
    folder, name = os.path.split(path)
    while not os.path.isdir(folder) and name:  # noqa: PTH112
        folder, name = os.path.split(folder)
    return folder, name


def _folders(root: str) -> set[str]:
    """The folder and those below it; links are not gone through, nor what is ignored or nobody may look into."""
    found = {root}
    for path, below, _ in os.walk(root):
        found.add(path)
        below[:] = [name for name in below if name not in IGNORED_FOLDERS]
        if len(found) > MOST_FOLDERS:
            fix = "name a folder nearer to the skills"
            raise CannotWatch(f"'{root}' has more than {MOST_FOLDERS:,} folders in it, too many to follow; {fix}")
    return found


def _readable(folder: str) -> bool:
    """Whether a folder can be followed: `watchfiles` takes no name that is not UTF-8, and needs the right to read."""
    try:
        return os.access(folder.encode(), os.R_OK)
    except UnicodeEncodeError:
        return False
