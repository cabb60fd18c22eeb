"""What is kept of a conversation, the ports of those who keep it, and what a backend is written with."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
