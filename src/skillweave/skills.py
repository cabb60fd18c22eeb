"""Skills and their parts: values, the formats they are written in, relations, and rules of tasks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
