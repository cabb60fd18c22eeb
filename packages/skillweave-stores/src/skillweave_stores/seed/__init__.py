"""Fills a store of skills from folders, packs and other sources; also `python -m skillweave_stores.seed`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
