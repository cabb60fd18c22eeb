"""File names as people and JSON can take them: no surrogates, no line breaks."""

import re
from pathlib import Path

PACK_SUFFIXES = (".yaml", ".yml", ".json")
"""How the file name of a pack ends."""
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def is_plain(name: str) -> bool:
    """Whether a file name is one line of real characters; others can be no artifact's id."""
    return _UNSHOWABLE.search(name) is None


def shown(name: str) -> str:
    r"""The name with everything that is not plain as an escape: an undecodable byte 0xff as `\xff`."""
    return _UNSHOWABLE.sub(_escaped, name)


def quoted(name: str) -> str:
    """The name as it is shown, in quotes for a sentence."""
    return f"'{shown(name)}'"


def expanded(path: Path) -> Path:
    """The path with the home folder for `~`, as it is where there is no such home."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
