"""The composition root: from paths and names to a Weaver."""

import os
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeAlias

from skillweave.errors import SkillweaveError
from skillweave.formats.skill_md import Strictness
from skillweave.knowledge.context import ContextSource
from skillweave.ledger.port import Store
from skillweave.plan import Settings
from skillweave.registry import Precedence, Registry, Source
from skillweave.select.select import DEFAULT_MATCHERS
from skillweave.skill import Json, Skill
from skillweave.sources.code import InCode
from skillweave.sources.folder import Folder
from skillweave.sources.pack import Pack
from skillweave.stores.memory import MemoryStore
from skillweave.tokens.counter import TokenCounter
from skillweave.weaver import OnStoreFailure, Weaver

Progress: TypeAlias = Callable[[int, int], None]
SkillSource: TypeAlias = "str | os.PathLike[str] | Source | Skill | Mapping[str, Json]"
"""A folder, a SKILL.md, a pack file, a Source, or a skill itself."""

PACK_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
LEDGERS = "skillweave.ledgers"
"""The entry point group of ledgers: the name is the scheme of the URL, the value a callable that takes the rest."""


def open_weaver(
    *skills: SkillSource,
    ledger: str | os.PathLike[str] | Store | None = None,
    settings: Settings | None = None,
    counter: TokenCounter | None = None,
    context: ContextSource | None = None,
    matchers: tuple[str, ...] = DEFAULT_MATCHERS,
    precedence: Precedence = Precedence.FIRST,
    strictness: Strictness = Strictness.LENIENT,
    on_store_failure: OnStoreFailure = OnStoreFailure.FAIL_OPEN,
    progress: Progress | None = None,
) -> Weaver:
    """A Weaver over folders, packs and skills in code: nothing to start, nothing read before the first turn.

    `ledger` is a file name or `sqlite:///path` to keep conversations in, a Store, or None for this process's memory.
    Raises SkillweaveError for a ledger that nothing installed can open.
    """
    return Weaver(
        Registry([source_of(one, strictness, progress) for one in skills], precedence=precedence),
        store_of(ledger),
        settings,
        counter=counter,
        context=context,
        matchers=matchers,
        on_store_failure=on_store_failure,
    )


def source_of(skill: SkillSource, strictness: Strictness, progress: Progress | None = None) -> Source:
    """The Source for whatever names skills."""
    if isinstance(skill, Skill | Mapping):
        return InCode(skill)
    if not isinstance(skill, str | os.PathLike):
        return skill
    path = Path(skill)
    if path.suffix.lower() in PACK_SUFFIXES and not path.is_dir():
        return Pack(path)
    return Folder(path, strictness=strictness, progress=progress)


def store_of(ledger: str | os.PathLike[str] | Store | None) -> Store:
    """The Store that a name stands for; a plain name is a SQLite file."""
    if ledger is None:
        return MemoryStore()
    if not isinstance(ledger, str | os.PathLike):
        return ledger
    name = os.fspath(ledger)
    scheme, separator, rest = name.partition("://")
    if not separator:
        scheme, rest = "sqlite", name
    elif scheme == "sqlite":
        rest = rest.removeprefix("/")
    store: Store = _ledger(scheme).load()(rest)
    return store


def _ledger(scheme: str) -> EntryPoint:
    known = entry_points(group=LEDGERS)
    if scheme not in known.names:
        raise SkillweaveError(
            f"no ledger for {scheme}:// is installed; use one of {', '.join(sorted(known.names))}, "
            "or install the package that brings it"
        )
    return known[scheme]
