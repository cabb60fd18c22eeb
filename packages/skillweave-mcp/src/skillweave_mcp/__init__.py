"""Skills over MCP: a server that selects, explains and serves them whole, and a host that verifies what it reads."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
