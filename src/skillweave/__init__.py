"""skillweave: the right skill in an agent's context at the right moment, once, inside a token budget, explained."""

import lazy_loader

from skillweave._version import __version__ as __version__

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Loads an export at its first use, so that importing skillweave costs nothing."""
    try:
        return _load(name)
    except AttributeError:
        modules = "skills, turns, selection, tools, graph, entities, ledger, stores, events, errors, values"
        message = f"module 'skillweave' has no attribute {name!r}; it exports {', '.join(__all__)}"
        raise AttributeError(f"{message}; look for others in its modules {modules}") from None
