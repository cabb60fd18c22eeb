"""skillweave: the right skill in an agent's context at the right moment, once, inside a token budget, explained."""

import lazy_loader

from skillweave._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
