"""What every group of the client's verbs works with."""

from collections.abc import Callable

from skillweave.client.sending import Wire


class Room:
    """A group of verbs: `wire` sends their requests, `new_id` makes the ids of what they make."""

    _wire: Wire
    _new_id: Callable[[], str]
