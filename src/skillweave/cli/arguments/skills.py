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


def sources_of(given: Sequence[str] | None, *, strict: bool) -> tuple["Source", ...]:
    """A source for each name; long loads show a bar. Nothing is read yet."""
    from skillweave.formats.skill_md import Strictness
    from skillweave.sources.named import source_of

    names = named_skills(given)
    bar = LoadingBar(sys.stderr)
    strictness = Strictness.STRICT if strict else Strictness.LENIENT
    return tuple(source_of(name, strictness, bar.part()) for name in names)


async def load(sources: Sequence["Source"]) -> "Registry":
    """A registry with everything that the sources hold."""
    from skillweave.registry import Registry

    registry = Registry(sources)
    await registry.refresh()
    return registry


def load_snapshot(given: Sequence[str] | None, *, strict: bool) -> "Snapshot":
    """All skills that are named, for a command that needs nothing else."""
    import asyncio

    return asyncio.run(load(sources_of(given, strict=strict))).snapshot


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
