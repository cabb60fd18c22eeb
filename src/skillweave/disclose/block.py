"""How much of a skill a block shows, what is ours in its text, and how it is recognised again (spec 5.1, 5.3, 5.4)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from hashlib import sha256
from typing import ClassVar
from unicodedata import category, normalize

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.skill import Skill

_DIGEST_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Priced:
    """A text with its tokens, its digest, and what had to be escaped in it."""

    text: str
    tokens: int
    digest: str
    diagnostics: tuple[Diagnostic, ...] = ()


def text_digest(text: str) -> str:
    """The digest of a block's normalised text: LF line ends, lines stripped on the right (spec 5.4)."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    normal = "\n".join(map(str.rstrip, lines)).rstrip("\n")
    return sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def carrier_of(digest: str, turn_id: str) -> str:
    """The id of the message that carries a text, given in that turn: a replay's is the same, others differ."""
    turn = sha256(turn_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"sw-{digest}-{turn}"


_CARRIER = re.compile(rf"sw-([0-9a-f]{{{_DIGEST_LENGTH}}})-[0-9a-f]{{12}}")


def digest_in(carrier: str) -> str:
    """The text digest inside a carrier; the empty text for an id that is not a carrier."""
    match = _CARRIER.fullmatch(carrier)
    return match.group(1) if match else ""


class Rung(IntEnum):
    """Higher shows more. An outline lists the sections of long instructions, to be read one by one (spec 5.1)."""

    CATALOG = 1
    OUTLINE = 2
    INSTRUCTIONS = 3
    FULL = 4

    @property
    def label(self) -> str:
        """The name in JSON and in messages to people."""
        return self.name.lower()


class SkillTools(StrEnum):
    """With the tools, long instructions can be an outline to be read in sections, and the catalog names the tools."""

    OFFERED = "offered"
    ABSENT = "absent"


ACTIVATED = "=== Skill Activated: "
OUTLINED = "=== Skill Outline: "
SECTION = "=== Skill Section: "
REFERENCE = "=== Skill Reference: "
AVAILABLE = "=== Skill Available: "
CONTEXT = "=== Entity Context: "
AGENT = "=== Agent Capabilities: "
HEADER_END = " ==="
HEADERS = (ACTIVATED, OUTLINED, SECTION, REFERENCE, AVAILABLE, CONTEXT, AGENT)
"""The headers that a block begins with."""
TAKEN_OUT = "(Skill text that stood here was taken out to make room; load it again when it is needed.)"
"""What stands in the place of a text that was taken out."""
LOADS_NOTHING = (
    "That marker loads nothing: the skill is in this conversation already, or it cannot be loaded now. Go on with what "
    "was asked, without a marker."
)
"""What the model is told that wrote a marker and nothing else, and gets no skill for it."""
FIXED_LINES = (TAKEN_OUT, LOADS_NOTHING)
"""Sentences of ours that are the same in every conversation."""
REPLACES = "This replaces the earlier text of this skill."
"""The line under the header of a block that is given again with other content."""
CHANGED = "Changed since it was shown; these lines replace the earlier ones of their kind."
"""The line above entity context of which the model has an older text."""

SECTIONS = (
    "## Description",
    "## Instructions",
    "## Steps",
    "## Requirements",
    "## Output Format",
    "## Postconditions",
    "## Output Contract",
    "## Tools",
    "## Checkpoints",
    "## References",
    "## Sections",
    "## Entity Context",
    "## Available Skills",
    "## Skills That May Fit",
    "## Skills",
    "## Protocol",
)
_ODD_BEGINNING = re.compile(r"^ {0,3}[^\t\n !\"$-<>-~].*$", re.MULTILINE)
"""A line that may begin as ours: not with another sign, a letter or a digit; after four spaces or a tab it is code."""
_UNDERLINED = re.compile(r"^ {0,3}[^\t\n ].*(?=\n {0,3}(?:-+|=+)[ \t]*$)", re.MULTILINE)
_UNSEEN_ASCII = dict.fromkeys((*range(33), 127))
_LIKE_OURS = str.maketrans({"\u266f": "#", "\ua78a": "=", "\u1400": "=", "\u2e40": "=", "\u30a0": "="})
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that show nothing."""
_LINE_BREAK = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _shows(letter: str) -> bool:
    """Whether a reader sees anything of it: no blank of any kind, no mark on a letter, nothing that only directs."""
    return letter not in _BLANKS and category(letter)[0] not in "ZCM"


def _as_seen(line: str) -> str:
    """What a reader sees of a line, without the blanks and letter case: letters and signs in their plain form."""
    if line.isascii():
        return line.translate(_UNSEEN_ASCII).lower()
    return "".join(letter for letter in normalize("NFKC", line) if _shows(letter)).translate(_LIKE_OURS).casefold()


_OWN_BEGINNINGS = tuple(map(_as_seen, HEADERS))
_OWN_HEADINGS = frozenset(map(_as_seen, SECTIONS))


def _escaped_line(match: re.Match[str]) -> str:
    line = match[0]
    # Most lines of other scripts are told by their first letter; one of ASCII is looked at whole as quickly.
    if not line.isascii() and _as_seen(next(filter(_shows, line), ""))[:1] not in ("#", "="):
        return line
    seen = _as_seen(line)
    return f"\\{line}" if seen.startswith(_OWN_BEGINNINGS) or seen.rstrip("#") in _OWN_HEADINGS else line


def _escaped_underlined(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if f"##{_as_seen(match[0])}" in _OWN_HEADINGS else match[0]


_OWN_HEADING = "a line that equals one of the block's own headings"
_ESCAPES: Sequence[tuple[Callable[[str], str], str]] = (
    (lambda text: text.replace("SKILL_SELECT:", "SKILL_SELECT\\:"), "a SKILL_SELECT: marker"),
    (lambda text: _ODD_BEGINNING.sub(_escaped_line, text), _OWN_HEADING),
    (lambda text: _UNDERLINED.sub(_escaped_underlined, text), _OWN_HEADING),
)
"""What makes text harmless that would pass for ours, and how a finding names it."""


@dataclass(slots=True, eq=False)
class Escaped:
    """Skill text on its way into a prompt: escapes what would pass for ours, and notes that it did."""

    skill: Skill
    arguments: str = ""
    _found: dict[str, None] = field(default_factory=dict)
    _escapes: ClassVar[Sequence[tuple[Callable[[str], str], str]]] = _ESCAPES

    def text(self, value: str) -> str:
        """Text of several lines: unified line ends, markers and lines that look like ours escaped."""
        lines = _LINE_BREAK.sub("\n", value).rstrip()
        if not lines.isascii() and _LONE_SURROGATE.search(lines):
            self._found["half of a surrogate pair, which no encoding can carry"] = None
            lines = _LONE_SURROGATE.sub("\ufffd", lines)
        for escape, what in self._escapes:
            escaped = escape(lines)
            if escaped != lines:
                self._found[what] = None
                lines = escaped
        return lines

    def line(self, value: str) -> str:
        """The text as one line."""
        return self.text(" ".join(value.split()))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What had to be escaped so far, each kind once."""
        filled = ", filled with the user's words," if self.arguments else ""
        return tuple(
            Diagnostic(
                code="text-escaped",
                severity=Severity.INFO,
                skill=self.skill.id,
                message=f"the text of skill {self.skill.id!r}{filled} holds {what}; it was escaped",
                fix="nothing else is changed; reword the line if the escape disturbs",
            )
            for what in self._found
        )


class Unescaped(Escaped):
    """Skill text to be divided before it is escaped; only line ends and half surrogates are mended."""

    __slots__ = ()
    _escapes = ()
