"""Whether the right skill is found: trigger tests, ranking, tokens, graphs, and models with and without a skill."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
