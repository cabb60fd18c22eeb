"""A matcher for tests that tells which index a turn worked on."""

from skillweave.selection import MatchContext, Selection


class SeesTheIndex:
    """A matcher that remembers which compiled skills it was asked about."""

    name = "sees"
    strength = 5
    deliberate = False

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def match(self, context: MatchContext) -> Selection:
        self.seen.add(id(context.skills))
        return Selection()
