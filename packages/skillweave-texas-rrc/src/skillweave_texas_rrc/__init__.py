"""The pack of filings with the Railroad Commission of Texas: its skills, and calculators that agents call as tools."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
