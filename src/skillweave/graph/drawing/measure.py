"""How wide text is, guessed without a font, and how it breaks into lines."""

import re
from functools import lru_cache
from unicodedata import category, east_asian_width

_WIDTHS = {
    0.33: " !',.:;`ijl|I",
    0.42: '"()-/[\\]frt{}*',
    0.83: "#%+<=>@~MWmwQO",
    0.5: "“”‘’–",
    0.7: "ABCDEGHKNRUVXYZ&",
}
_KNOWN = {char: width for width, chars in _WIDTHS.items() for char in chars}
_OTHER = 0.62
_OTHER_SCRIPT = 0.75
_FIRST_OTHER_SCRIPT = 0x0530
_WIDE = 1.05
_EMOJI = 1.35
_FIRST_EMOJI = 0x1F000
_BREAKS = re.compile(r"\s+|(?<=[-_/.:,;|&=+()])")


def width_of(text: str, size: float) -> float:
    """About how many pixels the text takes in a sans-serif font of that size, rather more than less."""
    return size * sum(map(_em, text))


def wrapped(text: str, size: float, widest: float, most: int) -> tuple[str, ...]:
    """The text in at most so many lines of at most that width; what does not fit is cut with an ellipsis."""
    lines: list[str] = []
    rest = text.strip()
    while rest and len(lines) < most:
        line = _first_line(rest, size, widest)
        rest = rest[len(line) :].lstrip()
        lines.append(line.rstrip())
    if rest:
        last = lines[-1]
        while last and width_of(f"{last}…", size) > widest:
            last = last[:-1]
        lines[-1] = f"{last.rstrip()}…"
    return tuple(lines)


def _first_line(text: str, size: float, widest: float) -> str:
    room, at = widest / size, 0
    while at < len(text):
        room -= _em(text[at])
        if room < 0:
            break
        at += 1
    if at == len(text):
        return text
    breaks = [found.start() for found in _BREAKS.finditer(text, 0, at + 1) if 0 < found.start() <= at]
    return text[: breaks[-1] if breaks else max(1, at)]


@lru_cache(maxsize=4096)
def _em(char: str) -> float:
    if char in _KNOWN:
        return _KNOWN[char]
    if category(char) in {"Mn", "Me", "Cf"}:
        return 0.0
    if ord(char) >= _FIRST_EMOJI:
        return _EMOJI
    width = east_asian_width(char)
    if width in "WF" or (width == "A" and not char.isalnum()):
        return _WIDE
    return _OTHER if ord(char) < _FIRST_OTHER_SCRIPT else _OTHER_SCRIPT
