"""What travels between the service and its clients, where no other value of skillweave already says it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
