"""What happened, as typed events, and the port of those who want to know (spec 4.4, 6.4 and 8)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
