"""What shell completion offers for a value; the rest is typer's."""

import re
from collections.abc import Iterable, Mapping

import typer

PROGRAM = "skillweave"
VARIABLE = "_SKILLWEAVE_COMPLETE"
"""Set by the script of a shell when it asks for completions."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,199}", re.ASCII)
"""What no shell takes for more than text."""
_ODD = re.compile(r"[^\w .,-]+")


def skill_ids(ctx: typer.Context) -> list[str]:
    """The ids of the skills that the command would load, but for those that are named already."""
    import asyncio

    from skillweave.cli.arguments.skills import load, sources_of

    named = ctx.params.get("ids") or ()
    sources = sources_of(ctx.params.get("skills"), strict=False, packs=ctx.params.get("pack"))
    return _plain(skill_id for skill_id in asyncio.run(load(sources)).snapshot.skills if skill_id not in named)


def conversations(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids of the conversations in the ledger."""
    import asyncio

    return _plain(asyncio.run(_conversations(ctx.params.get("ledger"), incomplete)))


async def _conversations(ledger: str | None, prefix: str) -> Iterable[str]:
    from skillweave.cli.arguments.ledger import existing, opened

    async with opened(existing(ledger, "any")) as store:
        return await store.conversations(prefix)


def demos() -> list[str]:
    """The names of the demos that packs bring."""
    from skillweave.packs.demonstration import DEMOS

    return _plain(DEMOS.names())


def embedders() -> list[str]:
    """The names of all embedders."""
    from skillweave.embedders import EMBEDDERS

    return list(EMBEDDERS.names())


def matchers() -> list[str]:
    """The names of all matchers."""
    from skillweave.select.selection import MATCHERS

    return list(MATCHERS)


def packs() -> list[str]:
    """The names of the packs that are installed."""
    from skillweave.sources.named import pack_names

    return _plain(pack_names())


def offered(values: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns those values that no shell takes for more than text, each with the beginning of what is said of it."""
    return [(name, " ".join(_ODD.sub(" ", values[name][:200]).split())[:70].strip()) for name in _plain(values)]


def _plain(names: Iterable[str]) -> list[str]:
    return [name for name in names if _PLAIN.fullmatch(name)]
