"""Where a phrase may begin and end in folded text: the word rule for all scripts (spec 2.2)."""

import re
import unicodedata
from functools import lru_cache

_UNSPACED_RANGES = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17ff\u19e0-\u19ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf"  # Tai Le, New Tai Lue, Tai Tham, Tai Viet
    "\u1b00-\u1b7f\ua980-\ua9df"  # Balinese, Javanese
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, Bopomofo, radicals
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff"  # Han, Yi
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]")
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")

UNSPACED_RUN = re.compile(f"[{_UNSPACED_RANGES}]+")
"""A run of characters of scripts that are written without spaces between words."""


LEFT, RIGHT, WHOLE = 1, 2, 4
"""What a phrase demands of the text around it; added up. Plain integers: they are read once per raw hit."""


def edges_of(phrase: str) -> int:
    """What the word rule demands for a folded phrase.

    A boundary is demanded only where the phrase's own edge is a word character of a script with spaces; no phrase ends
    before a combining mark, since the mark belongs to its last character.
    """
    edges = WHOLE
    if phrase and _in_spaced_word(phrase[0]):
        edges += LEFT
    if phrase and _in_spaced_word(phrase[-1]):
        edges += RIGHT
    return edges


def fits(text: str, start: int, end: int, edges: int) -> bool:
    """Whether the folded text around `start:end` grants what the edges demand."""
    if edges & LEFT and start and _in_spaced_word(text[start - 1]):
        return False
    if edges and end < len(text):
        after = text[end]
        return not ((edges & RIGHT and _in_spaced_word(after)) or _is_mark(after))
    return True


@lru_cache(maxsize=8192)
def _in_spaced_word(character: str) -> bool:
    if character.isalnum() or character == "_" or _is_mark(character):
        return _UNSPACED.match(character) is None
    return False


@lru_cache(maxsize=8192)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" and _VARIATION.match(character) is None
