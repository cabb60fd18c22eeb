"""The Python client of the service: the same verbs and values as a Weaver, over HTTP; needs the extra `client`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
