"""The store of skills that a command works on: its options and completions."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from skillweave.commands import Mistake, offered, option
from skillweave.values import without_secrets

if TYPE_CHECKING:
    from skillweave.registry import WritableSource

STORE = "The store"
_FORMS = "postgresql://USER:PASSWORD@HOST/NAME or sqlite:///FILE"

StoreUrl: TypeAlias = Annotated[
    str | None,
    option(STORE, "--store URL", "Where skills are stored: postgresql://USER:PASSWORD@HOST/NAME or sqlite:///FILE."),
]
Tenant: TypeAlias = Annotated[
    str, option(STORE, "--tenant NAME", "Whose skills they are, where several customers share a store.")
]


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
        raise Mistake(f"there is no store '{path}'; check its name, or fill one: skillweave store put --store {url}")
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
