"""The HTTP service: the same engine behind an API, for any number of tenants and replicas (spec 8)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
