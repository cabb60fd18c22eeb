"""What an agent may call: permissions, composition, sub-agents, and what skills promise to return."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
