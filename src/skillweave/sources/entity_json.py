"""Entities and edges in one JSON file: `nodes`, `edges`, and in `meta` the datum of what names none (spec 6.1)."""

import json
import re
from collections.abc import Iterator
from functools import partial

from skillweave.checking import shown
from skillweave.frontmatter.codes import NOT_UTF8
from skillweave.frontmatter.documents import read_json
from skillweave.frontmatter.yaml_text import Limits, Tree
from skillweave.sources import codes
from skillweave.sources.entity_data import LineOf, Reported
from skillweave.sources.files import Refused, read_real

LARGEST_JSON = 64 * 1024 * 1024
"""Bytes of a JSON file of entities: it is read whole, and takes several times as much in memory."""
_LIMITS = Limits(characters=LARGEST_JSON, nodes=20_000_000, depth=80)
_KEYS = ("meta", "nodes", "edges")
_SPACE = re.compile(r"[ \t\r\n]*")


class JsonFile:
    """One file, read when it is made; what cannot be read of it is reported."""

    of_entities = None
    """Whether it holds entities alone, or edges alone: neither."""

    def __init__(self, path: str, found: Reported) -> None:
        self._found = found
        self._text = ""
        self._data = self._read(path)
        self.datum = self._datum()
        for key in self._data:
            if key not in _KEYS:
                fix = "nothing, if it is for other programs; `meta`, `nodes` and `edges` are read"
                found.add(codes.UNREAD_GRAPH_KEY, None, f"key `{key[:60]}` is not read", fix)

    def nodes(self) -> Iterator[tuple[LineOf, object]]:
        """The data of the entities, each with its line."""
        return self._items("nodes")

    def edges(self) -> Iterator[tuple[LineOf, object]]:
        """The data of the edges, each with its line."""
        return self._items("edges")

    def _items(self, key: str) -> Iterator[tuple[LineOf, object]]:
        values = self._data.get(key)
        lines = _Lines(self._text, key)
        for position, data in enumerate(values if isinstance(values, list) else ()):
            yield partial(lines.of, position), data

    def _read(self, path: str) -> dict[str, Tree]:
        """The data of the file, empty where there is nothing to read in it, which is reported."""
        try:
            data = read_real(path, LARGEST_JSON).data
            self._text = data.decode("utf-8-sig")
        except Refused as refused:
            self._found.not_read(refused)
            return {}
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            message = f"byte {error.object[error.start]:#04x} is not UTF-8"
            self._found.refused(NOT_UTF8, line, message, "save the file as UTF-8")
            return {}
        document = read_json(self._text, path=self._found.path, limits=_LIMITS)
        self._found.take(document.diagnostics)
        if document.data is None:
            return {}
        if not {"nodes", "edges"} & document.data.keys():
            fix = 'write `{"nodes": [...], "edges": [...]}`'
            self._found.refused(codes.NO_ENTITIES, None, "neither `nodes` nor `edges` stands in it", fix)
        for key in ("nodes", "edges"):
            if not isinstance(document.data.get(key, []), list):
                what = f"`{key}` is {shown(document.data[key])}, not a list"
                self._found.refused(codes.NO_ENTITIES, None, what, "write a list of mappings")
        return document.data

    def _datum(self) -> str | None:
        meta = self._data.get("meta")
        if meta is None or (isinstance(meta, dict) and isinstance(meta.get("datum"), str | None)):
            datum = meta.get("datum") if meta else None
            return datum if isinstance(datum, str) else None
        what = "`meta` is no mapping, or its `datum` no text"
        self._found.add(codes.UNREAD_ENTITY_KEY, None, what, 'write `"meta": {"datum": "NAD83"}`')
        return None


class _Lines:
    """On which line of a JSON text each item of one of its lists begins; looked for at the first question.

    The parser of the standard library does not tell, and is several times as fast as one that does.
    """

    def __init__(self, text: str, key: str) -> None:
        self._text = text
        self._key = key
        self._lines: list[int] = []

    def of(self, position: int) -> int | None:
        """The line of the item at that position, counted from 1."""
        if not self._lines:
            last, line = 0, 1
            for start in _starts(self._text, self._key):
                line += self._text.count("\n", last, start)
                last = start
                self._lines.append(line)
        return self._lines[position]


def _starts(text: str, key: str) -> Iterator[int]:
    """Where the items of the list begin at the top of a text that is known to be a JSON object."""
    decode = json.JSONDecoder().raw_decode
    at = _after_space(text, 0)
    while text[at] != "}":
        name, at = decode(text, _after_space(text, at + 1))
        at = _after_space(text, _after_space(text, at) + 1)
        if name != key or text[at] != "[":
            at = _after_space(text, decode(text, at)[1])
            continue
        while text[at] != "]":
            at = _after_space(text, at + 1)
            if text[at] != "]":
                yield at
                at = _after_space(text, decode(text, at)[1])
        return


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
