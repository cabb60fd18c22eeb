"""The skills that a command works on: from `--skills` to sources and a snapshot."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave.cli.arguments.progress import LoadingBar
from skillweave.cli.failure import Mistake

if TYPE_CHECKING:
    from skillweave.registry import Registry, Snapshot, Source

DEFAULT_FOLDER = "skills"


def named_skills(given: Sequence[str] | None) -> tuple[str, ...]:
    """What `--skills` names, or ./skills; raises Mistake when there is neither."""
    if given:
        return tuple(given)
    if Path(DEFAULT_FOLDER).is_dir():
        return (DEFAULT_FOLDER,)
    raise Mistake(f"no skills are named and there is no folder ./{DEFAULT_FOLDER}; {_advice()}")


def skills_beside_packs(given: Sequence[str] | None, packs: Sequence[str] | None) -> tuple[str, ...]:
    """The same where packs are named too: with one there need be no ./skills, but it is taken where it is."""
    if packs and not given and not Path(DEFAULT_FOLDER).is_dir():
        return ()
    return named_skills(given)


def sources_of(
    given: Sequence[str] | None, *, strict: bool, packs: Sequence[str] | None = None
) -> tuple["Source", ...]:
    """A source for each name, then for each pack; long loads show a bar. Nothing is read yet."""
    from skillweave.formats.skill_md import Strictness
    from skillweave.sources.named import source_of

    names = skills_beside_packs(given, packs)
    bar = LoadingBar(sys.stderr)
    strictness = Strictness.STRICT if strict else Strictness.LENIENT
    sources = tuple(source_of(name, strictness, bar.part()) for name in names)
    if not packs:
        return sources
    from skillweave.sources.named import packs_of

    return (*sources, *packs_of(packs))


def sources_at_hand(
    given: Sequence[str] | None, *, strict: bool, packs: Sequence[str] | None = None
) -> tuple["Source", ...]:
    """The same for a command that can do without skills: none where none are named and there is no ./skills."""
    nothing = not given and not packs and not Path(DEFAULT_FOLDER).is_dir()
    return () if nothing else sources_of(given, strict=strict, packs=packs)


async def load(sources: Sequence["Source"]) -> "Registry":
    """A registry with everything that the sources hold."""
    from skillweave.registry import Registry

    registry = Registry(sources)
    await registry.refresh()
    return registry


def load_snapshot(given: Sequence[str] | None, *, strict: bool, packs: Sequence[str] | None = None) -> "Snapshot":
    """All skills that are named, for a command that needs nothing else."""
    import asyncio

    return asyncio.run(load(sources_of(given, strict=strict, packs=packs))).snapshot


def _advice() -> str:
    from skillweave.sources.roots import Scope, existing_roots

    found = [
        str(path.relative_to(Path.cwd()))
        for root, path in existing_roots(Path.cwd(), Path.cwd())
        if root.scope is Scope.PROJECT
    ]
    if found:
        return f"add --skills {found[0]}"
    return "add --skills DIR, the folder that holds your skills"
