"""What completion offers for a value: ids of skills and conversations, names of matchers and packs.

Only plain names are offered: a shell takes apart, or runs, what else somebody may have written into an id.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from skillweave.skill import Skill
    from skillweave.state.port import Store

Offer = tuple[str, str]
"""A value and a few words about it, for the shells that show them."""
MANY = 300
"""Skills of one folder that are read for their ids; of more the folders' names are offered, which takes no reading."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,199}", re.ASCII)
_ODD = re.compile(r"[^\w .,-]+")


def skill_ids(ctx: typer.Context) -> list[Offer]:
    """The ids of the skills that the command would load, but for those that are named already."""
    import asyncio

    named = ctx.params.get("ids") or ()
    found = asyncio.run(_skills(ctx.params.get("skills"), ctx.params.get("pack")))
    return [(skill_id, found[skill_id]) for skill_id in _plain(found) if skill_id not in named]


def conversations(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids of the conversations in the ledger."""
    import asyncio

    return _plain(asyncio.run(_conversations(ctx.params.get("ledger"), incomplete)))


def considered(ctx: typer.Context) -> list[str]:
    """The skills that were considered in the conversation before it on the line."""
    import asyncio

    return _plain(asyncio.run(_considered(ctx.params.get("ledger"), str(ctx.params.get("conversation")))))


def given(ctx: typer.Context) -> list[str]:
    """The skills that the conversation before it on the line was given."""
    import asyncio

    return _plain(asyncio.run(_given(ctx.params.get("ledger"), str(ctx.params.get("conversation")))))


def matchers() -> list[str]:
    """The names of all matchers."""
    from skillweave.select.selection import MATCHERS

    return list(MATCHERS)


def packs() -> list[str]:
    """The names of the packs that are installed."""
    from skillweave.sources.named import pack_names

    return _plain(pack_names())


def graph_skills(ctx: typer.Context) -> list[str]:
    """The ids of the skills in the graph before it on the line."""
    import asyncio

    from skillweave.cli.arguments.graph import open_graph

    # Before an option's value is there, what stands before the option is not taken for an argument yet.
    file = ctx.params.get("file") or ctx.args[0]
    return _plain(asyncio.run(open_graph(file)).graph.compiled.wired)


async def _skills(names: Sequence[str] | None, packs: Sequence[str] | None) -> dict[str, str]:
    from skillweave.cli.arguments.skills import load, skills_beside_packs
    from skillweave.formats.skill_md import Strictness
    from skillweave.sources.named import packs_of, source_of

    found: dict[str, str] = {}
    for name in skills_beside_packs(names, packs):
        folders = _folders(name)
        if len(folders) > MANY:
            found.update(dict.fromkeys(folders, ""))
            continue
        registry = await load([source_of(name, Strictness.LENIENT)])
        for skill in registry.snapshot.skills.values():
            found.setdefault(skill.id, _about(skill))
    for skill in (await load(packs_of(packs or ()))).snapshot.skills.values():
        found.setdefault(skill.id, _about(skill))
    return found


def _folders(name: str) -> list[str]:
    """The names of the folders of skills in a folder."""
    import os
    import time
    from pathlib import Path

    from skillweave.sources.names import expanded, shown
    from skillweave.sources.tree import Nested, Search, Tree

    root = os.path.realpath(expanded(Path(name)))
    if not Path(root).is_dir():
        return []
    search = Search(Tree({}, time.time_ns()), root, Nested.PARENT, shown)
    search.run()
    return [folder.relative.rpartition("/")[2] for folder in search.found]


async def _conversations(ledger: str | None, prefix: str) -> Iterable[str]:
    async with _looking(ledger) as store:
        return await store.conversations(prefix)


async def _considered(ledger: str | None, conversation: str) -> Iterable[str]:
    async with _looking(ledger) as store:
        return sorted({logged.decision.skill_id for logged in await store.read(conversation)})


async def _given(ledger: str | None, conversation: str) -> Iterable[str]:
    async with _looking(ledger) as store:
        state, _ = await store.load(conversation)
    return [record.key.removeprefix("skill:") for record in state.records if record.key.startswith("skill:")]


def _looking(ledger: str | None) -> "Store":
    from skillweave.cli.arguments.ledger import existing, opened

    return opened(existing(ledger, "any"))


def _plain(names: Iterable[str]) -> list[str]:
    return [name for name in names if _PLAIN.fullmatch(name)]


def _about(skill: "Skill") -> str:
    """The beginning of the description, without anything that a shell could take for more than text."""
    return " ".join(_ODD.sub(" ", skill.description[:200]).split())[:70].strip()
