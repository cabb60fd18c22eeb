"""Fakes for skillweave's own ports, and contract suites that every implementation of a port can inherit.

The contract suites need pytest with pytest-asyncio, the state machine needs Hypothesis; the fakes need nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
