"""skillweave: the right skill in an agent's context at the right moment, once, inside a token budget, explained."""

from skillweave._version import __version__

__all__ = ["__version__"]
