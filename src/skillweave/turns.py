"""What a turn takes and gives, beyond what the root exports."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
