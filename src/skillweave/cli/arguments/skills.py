"""The skills that a command works on, from `--skills` to a snapshot, and a line on the terminal while it takes long."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from skillweave.cli.failure import Mistake, leave_interrupted

if TYPE_CHECKING:
    from skillweave.cachefile import CacheFolder
    from skillweave.registry import Registry, Snapshot, Source
    from skillweave.weaver import Weaver


FEW_FILES = 200
"""Files that are read too quickly for a bar."""

DEFAULT_FOLDER = "skills"
FEW_SKILLS = 1000
"""Skills that are worked on too quickly for a line."""


_opened: ContextVar["list[Source] | None"] = ContextVar("opened", default=None)


@asynccontextmanager
async def sources_closed() -> AsyncIterator[None]:
    """At its end the sources are closed that `sources_of` has opened meanwhile; those of a database are connected."""
    from skillweave.closing import close_all

    opened: list[Source] = []
    before = _opened.set(opened)
    try:
        yield
    finally:
        _opened.reset(before)
        await close_all(opened)


class LoadingBar:
    """One bar for all sources that load at the same time, each in a thread of its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._parts: dict[int, tuple[int, int]] = {}
        self._lock = Lock()
        self._bar: Any = None
        self._open = ExitStack()

    def part(self) -> Callable[[int, int], None] | None:
        """The progress of one source, to be told how many of how many files are done; None without a terminal."""
        if not self._stream.isatty():
            return None
        number = len(self._parts)
        self._parts[number] = (0, 0)

        def tell(done: int, total: int) -> None:
            with self._lock:
                self._parts[number] = (done, total)
                self._show()

        return tell

    def _show(self) -> None:
        done, total = (sum(numbers) for numbers in zip(*self._parts.values(), strict=True))
        if self._bar is None and done < total and total > FEW_FILES:
            import typer

            bar = typer.progressbar(length=total, label="Reading skills", file=self._stream)
            self._bar = self._open.enter_context(bar)
        if self._bar is not None:
            self._bar.length = total
            self._bar.update(done - self._bar.pos)
            if done >= total:
                self._open.close()
                self._bar = None


def named_skills(given: Sequence[str] | None) -> tuple[str, ...]:
    """What `--skills` names, else the project's folders of skills, else the user's. Raises Mistake without any."""
    found = tuple(given or ()) or of_project() or _of_user()
    if found:
        return found
    raise Mistake(
        f"no skills are named, and none are in ./{DEFAULT_FOLDER}, .agents/skills or .claude/skills; {_advice()}"
    )


def skills_beside_packs(given: Sequence[str] | None, packs: Sequence[str] | None) -> tuple[str, ...]:
    """What `--skills` names beside packs: with a pack there need be no skills of the project; the user's are left."""
    return named_skills(given) if given or not packs else of_project()


def of_project() -> tuple[str, ...]:
    """Where the skills of this project are, if it has any."""
    from skillweave.sources.roots import Scope, default_roots

    own = (DEFAULT_FOLDER,) if Path(DEFAULT_FOLDER).is_dir() else ()
    real = {os.path.realpath(folder) for folder in own}
    roots = default_roots(Scope.PROJECT, Path())
    return (*own, *(str(root) for root in roots if os.path.realpath(root) not in real))


def _of_user() -> tuple[str, ...]:
    from skillweave.sources.roots import Scope, default_roots

    try:
        return tuple(map(str, default_roots(Scope.USER, Path.home())))
    except RuntimeError:  # a system without home folders
        return ()


def sources_of(
    given: Sequence[str] | None,
    *,
    strict: bool,
    packs: Sequence[str] | None = None,
    cache: "CacheFolder | None" = None,
) -> tuple["Source", ...]:
    """A source for each name, then for each pack, nothing read yet; stderr says where unnamed skills come from."""
    from skillweave.formats.strictness import Strictness

    names = skills_beside_packs(given, packs)
    bar = LoadingBar(sys.stderr)
    strictness = Strictness.STRICT if strict else Strictness.LENIENT
    if given:
        from skillweave.sources.named import source_of

        sources: tuple[Source, ...] = tuple(source_of(name, strictness, bar.part(), cache) for name in names)
    else:
        from skillweave.sources.folder import Folder

        # A link from one of them into another is that other's skill: clients install into one and link from the rest.
        sources = tuple(
            Folder(
                name,
                strictness=strictness,
                progress=bar.part(),
                cache=cache,
                beside=[*names[:place], *names[place + 1 :]],
            )
            for place, name in enumerate(names)
        )
        if names and names != (DEFAULT_FOLDER,):
            sys.stderr.write(f"skillweave: using the skills of {' and '.join(names)}; --skills names others\n")
    if packs:
        from skillweave.sources.named import packs_of

        sources = (*sources, *packs_of(packs))
    opened = _opened.get()
    if opened is not None:
        opened += sources
    return sources


async def load(sources: Sequence["Source"]) -> "Registry":
    """A registry with everything that the sources hold."""
    from skillweave.registry import Registry

    registry = Registry(sources)
    await registry.refresh()
    return registry


def seen_by(agent: str | None, snapshot: "Snapshot") -> "Snapshot":
    """The snapshot, of an agent its part of it; raises AgentNotFound."""
    if agent is None:
        return snapshot
    from skillweave.registry import part_of

    return part_of(snapshot, agent)


def _advice() -> str:
    from skillweave.sources.roots import Scope, existing_roots

    here = Path.cwd()
    for root, path in existing_roots(here, here):
        if root.scope is Scope.PROJECT:
            return f"add --skills {path.relative_to(here)}"
    return "add --skills DIR, the folder that holds your skills"


@contextmanager
def working(what: str, skills: int) -> Iterator[None]:
    """Say on stderr what is being done with how many skills, and take it back when it is done."""
    stream = sys.stderr
    if skills <= FEW_SKILLS or not stream.isatty():
        yield
        return
    line = f"{what} {skills:,} skills ..."
    stream.write(line)
    stream.flush()
    try:
        yield
    finally:
        stream.write(f"\r{' ' * len(line)}\r")
        stream.flush()


@contextmanager
def interruptible(told: Callable[[], str] = str) -> Iterator[None]:
    """While it lasts, an interruption ends the command with what is told then."""

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        leave_interrupted(told())

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def indexed(weaver: "Weaver", agent: str | None = None) -> "Weaver":
    """The weaver, of an agent its own, ready to search: the first turn would do that anyway, without a word."""
    weaver = weaver if agent is None else await weaver.for_agent(agent)
    with working("Indexing", len((await weaver.skills.snapshot()).active())):
        await weaver.skills.make_ready()
        await weaver.skills.catalog()
    return weaver
