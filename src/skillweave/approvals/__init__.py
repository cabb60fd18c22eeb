"""Questions to people at checkpoints: what is asked, what they said, and a log that shows any change to it (spec 8)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
