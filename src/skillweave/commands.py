"""What the commands of other distributions are made of: options, answers, the page that text stands on, mistakes.

A distribution brings a command by an entry point of the group `skillweave.commands`, which refers to a
`skillweave.extensions.CommandSpec`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("skillweave", __file__)
