"""A mapping being read: every value handed out was checked, every bad one was reported with its line."""

import json
import re
from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import TypeVar

from skillweave.formats import codes
from skillweave.formats.data import as_json
from skillweave.formats.findings import Findings
from skillweave.frontmatter import Code, Keys, Plain, resolved
from skillweave.frontmatter.codes import REPAIRED
from skillweave.skill import Json

Choice = TypeVar("Choice", bound=StrEnum)

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
"""How YAML 1.2 spells truth values."""


# A dict is recognised at once; asking the abstract class takes ten times as long.
_MAPPINGS = (dict, Mapping)


class Blanks(Enum):
    """Whether a list may hold empty texts: prose may, names and triggers may not."""

    KEPT = "kept"
    REFUSED = "refused"


class Fields:
    """One mapping of a definition; None stands for a field that is absent, null, or was bad and is reported."""

    __slots__ = ("_at", "_mapping", "_read", "findings")

    def __init__(self, mapping: Mapping[str, object], findings: Findings, at: Keys = ()) -> None:
        self._mapping = mapping
        self._at = at
        self._read: set[str] = set()
        self.findings = findings

    def __contains__(self, key: str) -> bool:
        return key in self._mapping

    def take(self, key: str) -> object:
        """The value as it stands, None when absent or left empty; counts as read."""
        self._read.add(key)
        value = self._mapping.get(key)
        return None if isinstance(value, Plain) and not value else value

    def absent(self, key: str) -> bool:
        """Whether nothing is stated: no such key, null, or nothing after the colon."""
        value = self._mapping.get(key)
        return value is None or (isinstance(value, Plain) and value in _NULLS)

    def holds_text(self, key: str) -> bool:
        """Whether a text stands at that key."""
        return isinstance(self._mapping.get(key), str)

    def holds_mapping(self, key: str) -> bool:
        """Whether a mapping stands at that key."""
        return isinstance(self._mapping.get(key, ""), _MAPPINGS)

    def holds_list(self, key: str) -> bool:
        """Whether a list stands at that key."""
        return isinstance(self._mapping.get(key), list | tuple)

    def holds_texts(self, key: str) -> bool:
        """Whether a list of texts stands at that key, or one text, or nothing."""
        value = self._mapping.get(key)
        items = value if isinstance(value, list | tuple) else [value]
        return self.absent(key) or all(isinstance(item, str) or _one_pair(item) is not None for item in items)

    def shown(self, key: str) -> str:
        """What stands at that key, in a few words; does not count as reading it."""
        return shown(self._mapping.get(key))

    def report(self, code: Code, key: str, message: str, fix: str) -> None:
        """Adds a finding about that key; the message begins with its full name."""
        self._report(code, (*self._at, key), message, fix)

    def text(self, key: str) -> str | None:
        """A text; a number is read as text and reported."""
        value = self.take(key)
        return None if value is None else self._as_text(value, (*self._at, key))

    def texts(self, key: str, blanks: Blanks = Blanks.KEPT) -> tuple[str, ...] | None:
        """A list of texts; a single one is read as a list of one and reported."""
        entries = self.entries(key)
        if entries is None:
            return None
        keys = (*self._at, key)
        texts = (self._item(item, (*keys, index), blanks) for index, item in enumerate(entries))
        return tuple(text for text in texts if text is not None)

    def names(self, key: str) -> tuple[str, ...] | None:
        """A list of texts none of which is empty."""
        return self.texts(key, Blanks.REFUSED)

    def flag(self, key: str) -> bool | None:
        """A truth value, `true` or `false`."""
        value = self._unless_null(key)
        if isinstance(value, Plain):
            value = FLAGS.get(str(value), value)
        if value is None or isinstance(value, bool):
            return value
        self._bad((*self._at, key), value, "true or false")
        return None

    def whole(self, key: str) -> int | None:
        """A whole number."""
        value = self._unless_null(key)
        if isinstance(value, Plain) and _WHOLE.fullmatch(value):
            return int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        self._bad((*self._at, key), value, "a whole number")
        return None

    def choice(self, key: str, choices: type[Choice]) -> Choice | None:
        """One of an enum's values."""
        value = self._unless_null(key)
        if value is None:
            return None
        known = {choice.value: choice for choice in choices}
        found = known.get(value) if isinstance(value, str) else None
        if found is None:
            self._bad((*self._at, key), value, f"one of {', '.join(known)}")
        return found

    def mapping(self, key: str) -> "Fields | None":
        """A mapping inside this one."""
        value = self._unless_null(key)
        return None if value is None else self._inside(value, (*self._at, key), "a mapping")

    def entries(self, key: str) -> list[object] | None:
        """The items of a list as they stand; a single value is read as a list of one and reported."""
        value = self._unless_null(key)
        if value is None or isinstance(value, list | tuple):
            return None if value is None else list(value)
        if isinstance(value, str | Mapping):
            self.report(codes.NOT_A_LIST, key, "is no list; it was read as a list of one", "write it as a list")
            return [value]
        self._bad((*self._at, key), value, "a list")
        return None

    def entry(self, key: str, index: int, item: object) -> "Fields | None":
        """An item of that list as a mapping."""
        return self._inside(item, (*self._at, key, index), "a mapping")

    def data(self, key: str) -> dict[str, Json] | None:
        """A mapping of free JSON data; unquoted YAML scalars stay text."""
        value = self._unless_null(key)
        return None if value is None else self._data(value, (*self._at, key))

    def typed_data(self, key: str) -> dict[str, Json] | None:
        """A mapping of free JSON data; unquoted YAML scalars are numbers, truth values and nulls (YAML 1.2 core)."""
        value = self._unless_null(key)
        return None if value is None else self._data(resolved(value), (*self._at, key))

    def rest(self) -> dict[str, Json]:
        """The keys that nobody asked for, with their values as JSON data."""
        unread = {key: value for key, value in self._mapping.items() if key not in self._read}
        return (self._data(unread, self._at) or {}) if unread else {}

    def report_unknown(self) -> None:
        """Reports the keys that nobody asked for."""
        for key in self._mapping:
            if key not in self._read:
                self.report(codes.UNKNOWN_KEY, key, "is not a known key; it means nothing", "correct or remove it")

    def _unless_null(self, key: str) -> object:
        value = self.take(key)
        return None if isinstance(value, Plain) and value in _NULLS else value

    def _as_text(self, value: object, keys: Keys) -> str | None:
        if isinstance(value, str):
            return str(value)
        if isinstance(value, bool | int | float):
            text = json.dumps(value)
            self._report(codes.NOT_TEXT, keys, f"is the value {text[:60]}, read as text", "put it in quotes")
            return text
        text_of_pair = _one_pair(value)
        if text_of_pair is not None:
            self._report(REPAIRED, keys, "holds a colon without quotes; it was read as text", "put it in quotes")
            return text_of_pair
        self._bad(keys, value, "text")
        return None

    def _item(self, value: object, keys: Keys, blanks: Blanks) -> str | None:
        if value is None or (isinstance(value, Plain) and not value):
            text: str | None = None
        else:
            text = self._as_text(value, keys)
            if text is None or text.strip() or blanks is Blanks.KEPT:
                return text
        self._report(codes.EMPTY_ITEM, keys, "is empty; it was left out", "write a text or remove the entry")
        return None

    def _inside(self, value: object, keys: Keys, expected: str) -> "Fields | None":
        if isinstance(value, Mapping):
            return Fields(value, self.findings, keys)
        self._bad(keys, value, expected)
        return None

    def _data(self, value: object, keys: Keys) -> dict[str, Json] | None:
        try:
            data = as_json(value)
        except ValueError as error:
            self._report(codes.BAD_VALUE, keys, f"holds {error}; it was left out", "write text, numbers and lists")
            return None
        if isinstance(data, dict):
            return data
        self._bad(keys, value, "a mapping")
        return None

    def _bad(self, keys: Keys, value: object, expected: str) -> None:
        message = f"is {shown(value)}, not {expected}; it was left out"
        self._report(codes.BAD_VALUE, keys, message, f"write {expected}")

    def _report(self, code: Code, keys: Keys, message: str, fix: str) -> None:
        self.findings.report(code, keys, f"`{dotted(keys)}` {message}", fix)


def dotted(keys: Keys) -> str:
    """The way to a value for people: `triggers.keywords[0]`."""
    name = ""
    for key in keys:
        name += f"[{key}]" if isinstance(key, int) else f".{key[:60]}"
    return name.removeprefix(".") or "the definition"


def shown(value: object) -> str:
    """What a value is, in a few words."""
    if isinstance(value, str):
        return repr(str(value) if len(value) <= 60 else value[:60] + "…")
    if isinstance(value, bool | int | float):
        return json.dumps(value)[:60]
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple) else f"of type {type(value).__name__}"


def _one_pair(value: object) -> str | None:
    """What YAML makes of `Use when: asked` in the place of a text."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return None
    ((key, text),) = value.items()
    return f"{key}: {text}".rstrip() if isinstance(text, Plain) else None
