"""What is known of things: entities, their graphs, the rules that say what is shown, and the result."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
