"""YAML and front matter that the reader of this package reads back equal."""

import re
from collections.abc import Mapping

import yaml

from skillweave.frontmatter.scalars import core_value

_WIDE = 1 << 20
_ODD = re.compile("[^\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Line ends that only YAML 1.1 knows, control characters, byte order marks: written as escapes."""


class _Writer(yaml.SafeDumper):
    """Writes every value out: equal lists are no aliases of each other."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(writer: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _ODD.search(text):
        _require_text(text)
        style = '"'
    elif "\n" in text and not text[0].isspace():
        style = "|"
    elif not isinstance(core_value(text), str):
        style = "'"
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Writer.add_representer(str, _represent_text)


def write_yaml(data: Mapping[str, object]) -> str:
    """The mapping as YAML, keys in the given order; text that looks like a number or a truth value is quoted.

    The data are plain JSON data. Raises ValueError for text that UTF-8 cannot carry (half of a surrogate pair).
    """
    return yaml.dump(data, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=_WIDE)


def write_front_matter(fields: Mapping[str, object], body: str = "") -> str:
    """A file of front matter and body; the body is written as `tidy_body` has it, with one blank line before it.

    Raises ValueError for text that UTF-8 cannot carry.
    """
    _require_text(body)
    head = f"---\n{write_yaml(fields)}---\n"
    return f"{head}\n{body}\n" if body else head


def _require_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a surrogate pair ({text[error.start]!r}) cannot be written; remove it") from error
