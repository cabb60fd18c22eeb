"""Shell completion: setting it up, and what it offers for a value."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from skillweave.state.port import Store


Offer = tuple[str, str]
"""A value and a few words about it, for the shells that show them."""
MANY = 300
"""Skills of one folder that are read for their ids; of more the folders' names are offered, which takes no reading."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,199}", re.ASCII)
_ODD = re.compile(r"[^\w .,-]+")

PROGRAM = "skillweave"
VARIABLE = "_SKILLWEAVE_COMPLETE"
"""Set by the script of a shell when it asks for completions."""
SCRIPTS = (f".bash_completions/{PROGRAM}.sh", f".zfunc/_{PROGRAM}", f".config/fish/completions/{PROGRAM}.fish")
"""Where typer puts the scripts of shells below the home folder; PowerShell keeps its own where only it can say."""


def skill_ids(ctx: typer.Context) -> list[Offer]:
    """The ids of the skills that the command would load, but for those that are named already."""
    import asyncio

    named = ctx.params.get("ids") or ()
    found = asyncio.run(_skills(ctx.params.get("skills"), ctx.params.get("pack")))
    return offered({skill_id: about for skill_id, about in found.items() if skill_id not in named})


def conversations(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids of the conversations in the ledger."""
    import asyncio

    return _plain(asyncio.run(_conversations(ctx.params.get("ledger"), incomplete)))


def considered(ctx: typer.Context) -> list[str]:
    """The skills that were considered in the conversation before it on the line."""
    import asyncio

    conversation = str(ctx.params.get("conversation"))
    return _plain(asyncio.run(_considered(ctx.params.get("ledger"), conversation, ctx.params.get("skills"))))


def given(ctx: typer.Context) -> list[str]:
    """The skills that the conversation before it on the line was given."""
    import asyncio

    return _plain(asyncio.run(_given(ctx.params.get("ledger"), str(ctx.params.get("conversation")))))


def entities(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """The ids of the first entities of the graph that begin so, with what they are."""
    import asyncio

    return asyncio.run(_entities(ctx, incomplete))


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


def graph_skills(ctx: typer.Context) -> list[str]:
    """The ids of the skills in the graph before it on the line."""
    import asyncio

    from skillweave.cli.arguments.graph import open_graph

    # Before an option's value is there, what stands before the option is not taken for an argument yet.
    file = ctx.params.get("file") or ctx.args[0]
    return _plain(asyncio.run(open_graph(file)).graph.compiled.wired)


async def _skills(names: Sequence[str] | None, packs: Sequence[str] | None) -> dict[str, str]:
    from skillweave.cli.arguments.skills import load, skills_beside_packs
    from skillweave.formats.strictness import Strictness
    from skillweave.sources.named import packs_of, source_of

    found: dict[str, str] = {}
    for name in skills_beside_packs(names, packs):
        folders = _folders(name)
        if len(folders) > MANY:
            found.update(dict.fromkeys(folders, ""))
            continue
        registry = await load([source_of(name, Strictness.LENIENT)])
        for skill in registry.snapshot.skills.values():
            found.setdefault(skill.id, skill.description)
    for skill in (await load(packs_of(packs or ()))).snapshot.skills.values():
        found.setdefault(skill.id, skill.description)
    return found


def _folders(name: str) -> list[str]:
    """The names of the folders of skills in a folder."""
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


async def _considered(ledger: str | None, conversation: str, skills: Sequence[str] | None) -> Iterable[str]:
    async with _looking(ledger, skills) as store:
        return sorted({logged.decision.skill_id for logged in await store.read(conversation)})


async def _given(ledger: str | None, conversation: str) -> Iterable[str]:
    async with _looking(ledger) as store:
        state, _ = await store.load(conversation)
    return [record.key.removeprefix("skill:") for record in state.records if record.key.startswith("skill:")]


def _looking(ledger: str | None, skills: Sequence[str] | None = ()) -> "Store":
    from skillweave.cli.arguments.ledger import databases_in, existing, opened

    return opened(existing(ledger, "any"), databases_in(skills))


async def _entities(ctx: typer.Context, incomplete: str) -> list[Offer]:
    from skillweave.cli.arguments.entities import existing_graph, first_entities

    async with existing_graph(ctx.params.get("entities"), ctx.params.get("tenant") or "") as graph:
        found = [one async for one in first_entities(graph) if one.id.startswith(incomplete)][:MANY]
    return offered({one.id: " ".join((one.label, *one.aliases[:1])) for one in found})


def offered(values: Mapping[str, str]) -> list[Offer]:
    """Returns those values that no shell takes for more than text, each with the beginning of what is said of it."""
    return [(name, " ".join(_ODD.sub(" ", values[name][:200]).split())[:70].strip()) for name in _plain(values)]


def _plain(names: Iterable[str]) -> list[str]:
    return [name for name in names if _PLAIN.fullmatch(name)]


def installed_scripts(home: Path) -> tuple[Path, ...]:
    """Returns the scripts that `--install-completion` has left in a home folder."""
    return tuple(path for path in (home / script for script in SCRIPTS) if path.is_file())
