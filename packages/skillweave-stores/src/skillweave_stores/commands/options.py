"""The store of skills that a command works on: its options, its completions, and a bar while it is filled."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, TextIO, TypeAlias

import typer

from skillweave.commands import Mistake, Packs, Skills, Strict, offered, option, sources_of
from skillweave.values import without_secrets

if TYPE_CHECKING:
    from skillweave import Source
    from skillweave.registry import WritableSource

STORE = "The store"
FEW_SKILLS = 200
"""Skills that are stored too quickly for a bar."""
_FORMS = "postgresql://USER:PASSWORD@HOST/NAME or sqlite:///FILE"

StoreUrl: TypeAlias = Annotated[
    str | None,
    option(STORE, "--store URL", "Where skills are stored: postgresql://USER:PASSWORD@HOST/NAME or sqlite:///FILE."),
]
Tenant: TypeAlias = Annotated[
    str, option(STORE, "--tenant NAME", "Whose skills they are, where several customers share a store.")
]


class StoringBar:
    """A bar while skills are stored, one source after the other; `done` says how many, also without a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.done = 0
        self._shown = stream.isatty()
        self._stream = stream
        self._found: dict[int, int] = {}
        self._bar: Any = None
        self._open = ExitStack()

    def part(self) -> Callable[[int, int], None]:
        """The progress of one source, to be told how many of how many files are read."""
        number = len(self._found)
        self._found[number] = 0

        def tell(_: int, total: int) -> None:
            self._found[number] = total

        return tell

    def tell(self, done: int, read: int) -> None:
        """Show how many skills are done; `read` counts for sources that do not know how many they have."""
        self.done = done
        total = max(read, sum(self._found.values()))
        if self._bar is None and self._shown and done < total and total > FEW_SKILLS:
            bar = typer.progressbar(length=total, label="Storing skills", file=self._stream)
            self._bar = self._open.enter_context(bar)
        if self._bar is not None:
            self._bar.length = total
            self._bar.update(done - self._bar.pos)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


@dataclass(frozen=True, slots=True)
class Storing:
    """Which skills a command stores: they are read once, so that nothing of them is kept."""

    skills: Skills = None
    pack: Packs = None
    strict: Strict = False

    def sources(self, bar: StoringBar) -> tuple["Source", ...]:
        """A source for each name, whose progress the bar is told; raises Mistake where no skills are named or found."""
        return sources_of(self.skills, strict=self.strict, packs=self.pack, bar=bar)


@dataclass(frozen=True, slots=True)
class InStore:
    """The store of skills that a command works on."""

    store: StoreUrl = None
    tenant: Tenant = ""

    def opened(self) -> "WritableSource":
        """The store, made where it is not there yet, to be closed with `async with`; raises Mistake for none."""
        return named_store(self.store).for_tenant(self.tenant)

    def existing(self) -> "WritableSource":
        """The store, which must be there, to be closed with `async with`; raises Mistake."""
        return existing_store(self.store).for_tenant(self.tenant)


def named_store(url: str | None) -> "WritableSource":
    """The store of that URL, not opened yet.

    Raises Mistake where none is named and for what cannot be written to, and SkillweaveError for a URL that cannot be
    read or that nothing installed can open.
    """
    from skillweave.registry import WritableSource
    from skillweave.sources import SOURCES, source_of

    if url is None or not url.strip():
        raise Mistake(f"no store of skills is named; add --store {_FORMS}, or set `store` in skillweave.toml")
    if "://" not in url:
        # A user and a password may stand in what was meant as a URL.
        shown = url if "@" not in url else f"***@{url.rpartition('@')[2]}"
        raise Mistake(f"{shown!r} is no store of skills that can be written to; name a database, as {_FORMS}")
    scheme = url.partition("://")[0]
    if scheme not in SOURCES.names():
        raise Mistake(
            f"{without_secrets(url)} is no store of skills; name a database, as {_FORMS}, or install the package that "
            f"brings {scheme[:20]}://"
        )
    source = source_of(url)
    if not isinstance(source, WritableSource):
        raise Mistake(f"{without_secrets(url)} can be read and not written to; name a database, as {_FORMS}")
    return source


def existing_store(url: str | None) -> "WritableSource":
    """The store, which must be there already: none is made; raises Mistake where it is not, and like `named_store`."""
    store = named_store(url)
    scheme, _, rest = (url or "").partition("://")
    path = Path(rest.partition("?")[0].removeprefix("/"))
    if scheme == "sqlite" and not path.exists():
        raise Mistake(f"there is no store '{path}'; check its name, or fill one: skillweave seed --store {url}")
    return store


def stored_skills(ctx: typer.Context) -> list[tuple[str, str]]:
    """Completes the ids of the skills in the store that are in use."""
    import asyncio

    async def found() -> list[str]:
        async with _store(ctx) as store:
            return [skill.id async for part in store.stream() for skill in part.skills]

    return offered(dict.fromkeys(asyncio.run(found()), ""))


def stored_versions(ctx: typer.Context) -> list[tuple[str, str]]:
    """Completes the versions of the skill before it on the line, with what they state."""
    import asyncio

    async def found() -> dict[str, str]:
        async with _store(ctx) as store:
            versions = await store.versions(str(ctx.params.get("skill")))
        return {one.content_hash[:12]: one.skill.version or "" for one in versions}

    return offered(asyncio.run(found()))


def _store(ctx: typer.Context) -> "WritableSource":
    return existing_store(ctx.params.get("store")).for_tenant(ctx.params.get("tenant") or "")
