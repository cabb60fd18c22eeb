"""From the place that an error names back to the line of a file."""

import re
from collections.abc import Iterator, Mapping

from skillweave.frontmatter import Keys

_STEP = re.compile(r"\[(?P<index>\d+)\]|\['(?P<odd>[^']*)'\]|\.?(?P<key>[\w-]+)")


def line_of(place: str, lines: Mapping[Keys, int]) -> int | None:
    """The line of a place such as `routes[3].guard`, or of the nearest thing around it that has one; else None."""
    keys = tuple(_keys(place))
    return next((lines[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in lines), None)


def _keys(place: str) -> Iterator[str | int]:
    for step in _STEP.finditer(place):
        index, odd, key = step.group("index", "odd", "key")
        yield int(index) if index is not None else key if odd is None else odd
