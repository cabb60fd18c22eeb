"""Why a text counts as given no longer."""

from enum import StrEnum


class Cause(StrEnum):
    """Who forgot it: the host by key or all at once, a delivery that failed, an unloading, a person who said no."""

    EVICTED = "evicted"
    CLEARED = "cleared"
    RELEASED = "released"
    UNLOADED = "unloaded"
    REJECTED = "rejected"
