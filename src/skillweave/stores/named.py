"""The Store that a name stands for; backends are entry points, so that guests are found like the built-in ones."""

import os
from importlib.metadata import EntryPoint, entry_points

from skillweave.errors import NOT_INSTALLED, SkillweaveError
from skillweave.state.port import Store
from skillweave.stores.memory import MemoryStore

LEDGERS = "skillweave.ledgers"
"""The entry point group of ledgers: the name is the scheme of the URL, the value a callable that takes the rest."""


def store_of(ledger: str | os.PathLike[str] | Store | None) -> Store:
    """The Store that a name stands for: a plain name is a SQLite file, None this process's memory.

    Raises SkillweaveError for a scheme that nothing installed can open.
    """
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
    if not known.names:
        raise SkillweaveError(f"a ledger for {scheme}:// cannot be found: {NOT_INSTALLED}")
    if scheme not in known.names:
        raise SkillweaveError(
            f"no ledger for {scheme}:// is installed; use one of {', '.join(sorted(known.names))}, "
            "or install the package that brings it"
        )
    return known[scheme]
