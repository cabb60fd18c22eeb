"""PostgreSQL and Redis for skillweave: skills, conversations, entities, events, approvals, working memory, API keys."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
