"""The Weaver, its views, and what their verbs return; `skillweave.open` makes one."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
