"""Where a conversation stands among its skills, and where it may go: the skill graph (spec 3, seed 001)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
