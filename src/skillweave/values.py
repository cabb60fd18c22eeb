"""What values are made of: findings, JSON, frozen values, checks of arguments, secrets left out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
