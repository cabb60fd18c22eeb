"""Values of the data form, each checked where it stands: an error names the place, the rule and the fix."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from skillweave.errors import InvalidGraph, nearest_names
from skillweave.frontmatter.yaml_text import Keys, Plain, resolved

MOST_SKILLS = 10_000
MOST_ENTRIES = 10_000
MOST_ROUTES = 50_000
MOST_PHRASES = 10_000
"""Phrases in `never_routes`."""
MOST_ITEMS = 1_000
"""Items of any other list: words, examples, members of `all`, statuses, values of `in`, fields of a guard."""
MOST_DECISIONS = 20_000
DEEPEST_TREE = 200
"""Decisions on the way to a leaf."""

LONGEST_ID = 100
LONGEST_LABEL = 1_000
LONGEST_PHRASE = 10_000
"""Characters of a word, an example, an expression, an intent or a guard's text."""
LONGEST_DESCRIPTION = 100_000
LONGEST_BODY = 1_000_000
"""Characters of a skill's text."""
LARGEST_WHOLE = 1_000_000_000
"""The highest count, limit or priority; a priority may be as far below zero."""


ANY_SKILL = ("*", "ANY")
"""What stands for any skill, and is the id of none."""

_NAME = re.compile(r"[\w-]{1,60}")
MOST_TOLD = 10
"""Reading ends when so many mistakes are found."""
_Value = TypeVar("_Value")
_STEP = re.compile(r"\[(?P<index>\d+)\]|\['(?P<odd>[^']*)'\]|\.?(?P<key>[\w-]+)")


def inside(place: str, key: str | int) -> str:
    """The place of a member: `routes[3].guard`, an odd key in brackets and quotes."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    if not _NAME.fullmatch(key):
        return f"{place}[{key[:60]!r}]"
    return f"{place}.{key}" if place else key


def wrong(place: str, rule: str, fix: str) -> InvalidGraph:
    """The error that something at that place breaks a rule; an empty place is the whole graph."""
    return InvalidGraph(f"{place or 'the graph'}: {rule}; {fix}", place=place, fix=fix)


def shown(value: object) -> str:
    """The value in a few words, for messages."""
    if isinstance(value, Plain):
        value = resolved(value)
    if value is None:
        return "empty"
    if isinstance(value, str):
        return f"the text {value[:60] + '…' if len(value) > 60 else value!r}" if value.strip() else "an empty text"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}" if isinstance(value, float) or abs(value) < 10**30 else "a huge number"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return f"code ({type(value).__name__})" if callable(value) else f"a {type(value).__name__}"


def hint(name: str, known: Iterable[str]) -> str:
    """The question whether the nearest known name was meant, with a blank after it; empty where none is near."""
    near = nearest_names(name, known)
    return f"did you mean {near[0]!r}? " if near else ""


def require_mapping(value: object, place: str, fix: str) -> Mapping[str, object]:
    """A mapping whose keys are texts."""
    if not isinstance(value, Mapping):
        raise wrong(place, f"it is {shown(value)}, and a mapping is expected", fix)
    for key in value:
        if not isinstance(key, str):
            raise wrong(place, f"a key in it is {shown(key)}, and text is expected", "put the key in quotes")
    return value


def require_known_keys(mapping: Mapping[str, object], known: Collection[str], place: str) -> None:
    """No key but the known ones; the nearest of them is offered for a misspelling."""
    for key in mapping:
        if key not in known:
            fix = f"{hint(key, known)}the keys are {', '.join(known)}".strip()
            raise wrong(place, f"the key {key[:60]!r} means nothing here", fix)


def require_list(value: object, place: str, fix: str, most: int = MOST_ITEMS) -> Sequence[object]:
    """A list with at least one item, and no more than `most`."""
    items = require_items(value, place, fix, most)
    if not items:
        raise wrong(place, "the list is empty", f"{fix}, or remove the key")
    return items


def require_items(
    value: object, place: str, fix: str, most: int = MOST_ITEMS, shorten: str = "shorten it"
) -> Sequence[object]:
    """A list, also an empty one, of no more than `most` items; `shorten` is the fix for a longer one."""
    if not isinstance(value, list | tuple):
        raise wrong(place, f"it is {shown(value)}, and a list is expected", fix)
    if len(value) > most:
        raise wrong(place, f"it has {len(value):,} items, and {most:,} are allowed", shorten)
    return value


def require_string(value: object, place: str, fix: str, longest: int | None = None) -> str:
    """Any text, also an empty one, of no more than `longest` characters."""
    if not isinstance(value, str):
        raise wrong(place, f"it is {shown(value)}, and text is expected", fix)
    if longest is not None and len(value) > longest:
        raise wrong(place, f"the text has {len(value):,} characters, and {longest:,} are allowed", "shorten it")
    return str(value)


def require_text(value: object, place: str, fix: str, longest: int = LONGEST_PHRASE) -> str:
    """A text that says something; of unquoted YAML, whatever stands there but null is one."""
    text = require_string(None if is_null(value) else value, place, fix, longest)
    if not text.strip():
        raise wrong(place, "the text is empty", fix)
    return text


def require_texts(value: object, place: str, fix: str, most: int = MOST_ITEMS) -> tuple[str, ...]:
    """A list of texts that say something."""
    items = require_list(value, place, fix, most)
    return tuple(require_text(item, inside(place, number), fix) for number, item in enumerate(items))


def require_id(value: object, place: str) -> str:
    """A skill's id: printable text of at most 100 characters, and not `*` or ANY."""
    fix = "write a skill's id"
    text = require_text(value, place, fix, LONGEST_ID)
    if not text.isprintable():
        raise wrong(place, f"the id {text!r} holds an unprintable character", "remove it")
    if text in ANY_SKILL:
        raise wrong(place, f"{text!r} stands for any skill and is only allowed as `from` of a route", fix)
    return text


def require_flag(value: object, place: str) -> bool:
    """True or false."""
    value = resolved(value) if isinstance(value, Plain) else value
    if not isinstance(value, bool):
        raise wrong(place, f"it is {shown(value)}, and true or false is expected", "write true or false")
    return value


def require_count(value: object, place: str, least: int, largest: int = LARGEST_WHOLE) -> int:
    """A whole number between two bounds; 3.0 is one, as in JSON."""
    number = require_number(value, place) if not isinstance(value, bool) else value
    if isinstance(number, bool) or number != int(number):
        raise wrong(place, f"it is {shown(number)}, and a whole number is expected", f"write {least} or more")
    if not least <= number <= largest:
        raise wrong(place, f"it is {shown(number)}", f"write a number from {least} to {largest}")
    return int(number)


def require_number(value: object, place: str) -> int | float:
    """A number that JSON can carry."""
    value = resolved(value) if isinstance(value, Plain) else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(place, f"it is {shown(value)}, and a number is expected", "write a number")
    if not is_finite(value):
        raise wrong(place, f"{shown(value)} cannot be compared with a number", "write a finite number")
    return value


def is_null(value: object) -> bool:
    """Whether nothing is stated; in unquoted YAML that is also `null`, `~` and nothing after the colon."""
    return value is None or (isinstance(value, Plain) and resolved(value) is None)


def is_finite(number: float) -> bool:
    """Whether the number has a finite double beside it, so that every reader of JSON takes it."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


class Mistakes:
    """Collects mistakes while reading goes on, so that several are told at once."""

    def __init__(self) -> None:
        self._found: list[InvalidGraph] = []

    def attempt(self, read: Callable[[], _Value], otherwise: _Value) -> _Value:
        """What the function reads, or the other value where it raises InvalidGraph; the tenth mistake ends it all."""
        try:
            return read()
        except InvalidGraph as error:
            self.add(error)
            return otherwise

    def add(self, error: InvalidGraph) -> None:
        """One more; raises InvalidGraph with all of them when there are enough."""
        self._found.append(error)
        if len(self._found) >= MOST_TOLD:
            self.raise_found()

    def raise_found(self) -> None:
        """Raise InvalidGraph for all that was found, a line for each; nothing where all is well."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            many = f"{len(self._found)} mistakes" if len(self._found) < MOST_TOLD else f"at least {MOST_TOLD} mistakes"
            lines = "\n".join(f"- {error}" for error in self._found)
            raise InvalidGraph(f"the graph has {many}:\n{lines}", mistakes=self._found)


def line_of(place: str, lines: Mapping[Keys, int]) -> int | None:
    """The line of a place such as `routes[3].guard`, or of the nearest thing around it that has one; else None."""
    keys = tuple(_keys(place))
    return next((lines[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in lines), None)


def _keys(place: str) -> Iterator[str | int]:
    for step in _STEP.finditer(place):
        index, odd, key = step.group("index", "odd", "key")
        yield int(index) if index is not None else key if odd is None else odd
