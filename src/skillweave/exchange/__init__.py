"""Between a client and its model: one request and its reply, in the three forms that models are called in (spec 12).

For whoever writes another door: the steps of `begin(...)` say what to send upstream and what to give to the client.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
