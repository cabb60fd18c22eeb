"""A mapping being read: every value handed out was checked, every bad one is reported with its line."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Any, TypeAlias, TypeVar

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import InvalidSkill
from skillweave.formats import codes
from skillweave.formats.arguments import MOST_PLACES, PLACE, WORD
from skillweave.formats.host_keys import FLAGS, misread
from skillweave.frontmatter.codes import REPAIRED, Code
from skillweave.frontmatter.yaml_text import Keys, Plain, resolved
from skillweave.frozen import EMPTY, as_json
from skillweave.skill import Json, Skill, SkillText

Choice = TypeVar("Choice", bound=StrEnum)
Value = TypeVar("Value")
Reader: TypeAlias = Callable[["Fields", str], Any]
"""The checked value at a key, None where there is none."""

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SkillRead:
    """One definition, read: the skill, None when it was skipped, and all that was found on the way."""

    skill: Skill | None
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(eq=False, slots=True)
class Findings:
    """Collects diagnostics about one definition; knows its `path` and on which of its `lines` a key stands."""

    path: str
    lines: Mapping[Keys, int] = EMPTY
    first_line: int | None = None
    found: list[Diagnostic] = field(default_factory=list)

    def report(self, code: Code, keys: Keys, message: str, fix: str) -> None:
        """Adds a finding about the value at these keys."""
        self.report_at(code, self.line(keys), message, fix)

    def report_at(self, code: Code, line: int | None, message: str, fix: str) -> None:
        """Adds a finding about a line."""
        self.found.append(code.found(Location(self.path, line), message, fix))

    def line(self, keys: Keys) -> int | None:
        """The line of that value, or of the nearest that encloses it."""
        while keys:
            if keys in self.lines:
                return self.lines[keys]
            keys = keys[:-1]
        return self.first_line

    def has_errors(self) -> bool:
        """Whether anything found so far is an error."""
        return any(found.severity is Severity.ERROR for found in self.found)

    def costing(self, code: Code, what: str) -> Iterator[Diagnostic]:
        """What was found; an error costs the whole of `what`, whatever it would cost in a skill."""
        for one in self.found:
            message = f"{one.message.removesuffix('; it was left out')}; {what} is left out"
            yield one if one.severity is not Severity.ERROR else replace(one, code=code.name, message=message)

    def outcome(self, skill: Skill | None) -> SkillRead:
        """The result, each diagnostic with the skill's id."""
        if skill is None or not self.found:
            return SkillRead(skill, tuple(self.found))
        return SkillRead(skill, tuple(found if found.skill else replace(found, skill=skill.id) for found in self.found))


def require_skill(read: SkillRead) -> Skill:
    """The skill that was read; raises InvalidSkill naming every error when anything of the definition was lost."""
    errors = [found for found in read.diagnostics if found.severity is Severity.ERROR]
    if errors or read.skill is None:
        raise InvalidSkill("; ".join(f"{error.message} ({error.fix})" for error in errors) or "no skill was read")
    return read.skill


class Blanks(Enum):
    """Whether a list may hold empty texts: prose may, names and triggers may not."""

    KEPT = "kept"
    REFUSED = "refused"


class Fields:
    """One mapping of a definition. None stands for what is absent, null or bad; what is handed out counts as read."""

    __slots__ = ("_at", "_mapping", "_read", "findings")

    def __init__(self, mapping: Mapping[str, object], findings: Findings, at: Keys = ()) -> None:
        self._mapping = mapping
        self._at = at
        self._read: set[str] = set()
        self.findings = findings

    def __contains__(self, key: object) -> bool:
        return key in self._mapping

    def peek(self, key: str) -> object:
        """What stands at that key, unchecked; does not count as reading it."""
        return self._mapping.get(key)

    def absent(self, key: str) -> bool:
        """Whether nothing is stated: no such key, null, or nothing after the colon."""
        value = self._mapping.get(key)
        return value is None or (isinstance(value, Plain) and value in _NULLS)

    def take(self, key: str) -> object:
        """What stands at that key, unchecked; None when it is absent."""
        self._read.add(key)
        return None if self.absent(key) else self._mapping[key]

    def report(self, code: Code, key: str, message: str, fix: str) -> None:
        """Adds a finding about that key; the message begins with its full name."""
        self._report(code, (*self._at, key), message, fix)

    def text(self, key: str) -> str | None:
        """A text; a number is read as text and reported."""
        self._read.add(key)
        value = self._mapping.get(key)
        if isinstance(value, str):
            # Of unquoted YAML, only nothing after the colon is not text: somebody may be called Null.
            return None if not value and isinstance(value, Plain) else str(value)
        return None if value is None else self._as_text(value, (*self._at, key))

    def stated(self, key: str) -> str | None:
        """A text that is more than white space."""
        text = self.text(key)
        return text if text is not None and text.strip() else None

    def required(self, key: str) -> str | None:
        """Such a text, without which an entry means nothing; reported when it is missing."""
        text = self.stated(key)
        if text is None:
            self.report(codes.FIELD_MISSING, key, "is missing or empty; the entry was left out", f"add `{key}`")
        return text

    def texts(self, key: str, blanks: Blanks = Blanks.KEPT) -> tuple[str, ...] | None:
        """A list of texts; a single one is read as a list of one and reported."""
        entries = self.entries(key)
        if entries is None:
            return None
        texts: list[str] = []
        for index, item in enumerate(entries):
            unstated = item is None or (isinstance(item, Plain) and not item)
            keys = (*self._at, key, index)
            text = str(item) if unstated or isinstance(item, str) else self._as_text(item, keys)
            if unstated or (text is not None and blanks is Blanks.REFUSED and not text.strip()):
                self._report(codes.EMPTY_ITEM, keys, "is empty; it was left out", "write a text or remove the entry")
            elif text is not None:
                texts.append(text)
        return tuple(texts)

    def names(self, key: str) -> tuple[str, ...] | None:
        """A list of texts none of which is empty."""
        return self.texts(key, Blanks.REFUSED)

    def holds_texts(self, key: str) -> bool:
        """Whether a list of texts stands at that key, or one text, or nothing."""
        value = self._mapping.get(key)
        items = value if isinstance(value, list | tuple) else [value]
        return self.absent(key) or all(isinstance(item, str) or _one_pair(item) is not None for item in items)

    def flag(self, key: str) -> bool | None:
        """A truth value, `true` or `false`."""
        value = self.take(key)
        if isinstance(value, Plain):
            value = FLAGS.get(str(value), value)
        if value is None or isinstance(value, bool):
            return value
        self._bad((*self._at, key), value, "true or false")
        return None

    def whole(self, key: str) -> int | None:
        """A whole number."""
        value = self.take(key)
        if isinstance(value, Plain) and _WHOLE.fullmatch(value):
            return int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        self._bad((*self._at, key), value, "a whole number")
        return None

    def choice(self, key: str, choices: type[Choice]) -> Choice | None:
        """One of an enum's values."""
        value = self.take(key)
        if value is None:
            return None
        known = {choice.value: choice for choice in choices}
        found = known.get(value) if isinstance(value, str) else None
        if found is None:
            self._bad((*self._at, key), value, f"one of {', '.join(known)}")
        return found

    def mapping(self, key: str) -> "Fields | None":
        """A mapping inside this one."""
        value = self.take(key)
        return None if value is None else self.entry(value, key)

    def entries(self, key: str) -> list[object] | None:
        """The items of a list as they stand; a single value is read as a list of one and reported."""
        value = self.take(key)
        if value is None or isinstance(value, list | tuple):
            return None if value is None else list(value)
        if isinstance(value, str | Mapping):
            self.report(codes.NOT_A_LIST, key, "is not a list; it was read as a list of one", "write it as a list")
            return [value]
        self._bad((*self._at, key), value, "a list")
        return None

    def entry(self, value: object, *keys: str | int) -> "Fields | None":
        """A value that stands at these keys, such as an item of a list, as a mapping."""
        if isinstance(value, Mapping):
            return Fields(value, self.findings, (*self._at, *keys))
        self._bad((*self._at, *keys), value, "a mapping")
        return None

    def each(
        self, key: str, read: Callable[["Fields"], Value | None], bare: Callable[[str], Value] | None = None
    ) -> tuple[Value, ...] | None:
        """The entries of a list of mappings, `bare` for those that are one text; what cannot be read is left out."""
        entries = self.entries(key)
        if entries is None:
            return None
        parts: list[Value] = []
        for index, entry in enumerate(entries):
            if bare is not None and isinstance(entry, str) and entry.strip():
                parts.append(bare(str(entry)))
                continue
            inner = self.entry(entry, key, index)
            part = None if inner is None else read(inner)
            if part is not None:
                parts.append(part)
        return tuple(parts)

    def parts(self, readers: Mapping[str, Reader]) -> dict[str, Any]:
        """What is stated of these parts; other keys are reported."""
        read = {key: reader(self, key) for key, reader in readers.items()}
        self.report_unknown()
        return {key: value for key, value in read.items() if value is not None}

    def data(self, key: str) -> dict[str, Json] | None:
        """A mapping of free JSON data; unquoted YAML scalars stay text."""
        value = self.take(key)
        return None if value is None else self._data(value, (*self._at, key))

    def typed_data(self, key: str) -> dict[str, Json] | None:
        """A mapping of free JSON data; unquoted YAML scalars are numbers, truth values and nulls (YAML 1.2 core)."""
        value = self.take(key)
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

    def _as_text(self, value: object, keys: Keys) -> str | None:
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


def report_host_keys(extra: Mapping[str, object], findings: Findings) -> None:
    """Reports host keys whose value means nothing, and how they are read."""
    for key, value, reading, fix in misread(extra):
        findings.report(codes.HOST_KEY, (key,), f"`{key}` is {shown(value)}, {reading}", fix)


def report_places(text: SkillText, findings: Findings) -> None:
    """Reports a text with more places for arguments than are filled."""
    whole = "\n".join((text.instructions or "", *text.steps))
    places = len(PLACE.findall(whole)) if WORD in whole else 0
    if places > MOST_PLACES:
        message = f"`{WORD}` stands in {places:,} places; the first {MOST_PLACES} are filled"
        findings.report(codes.MANY_ARGUMENTS, (), message, "name it once, and refer to it from then on")
