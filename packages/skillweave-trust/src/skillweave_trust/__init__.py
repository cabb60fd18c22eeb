"""Skills of strangers: what a skill must show before it is given, signatures, scans, and scripts in a sandbox."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
