"""How skills are selected: matchers, rerankers, embedders, candidates, and the text they read."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
