"""Observers for the telemetry systems of hosts, each behind an extra of its own and loaded at its first use."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
