"""A YAML or JSON file, or a JSON text on the command line, read with limits; whatever is wrong is one line."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave.cli.arguments.message import decoded
from skillweave.cli.failure import Mistake

if TYPE_CHECKING:
    from skillweave.diagnostics import Diagnostic
    from skillweave.frontmatter import Document

MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Named:
    """A text and what messages call it; `as_json` for one that is JSON by its name or place."""

    text: str
    name: str
    as_json: bool


def read_named(path: str, what: str) -> Named:
    """The text of a file, `-` for standard input; raises Mistake for what is no regular file or no UTF-8."""
    if path == "-":
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise Mistake(f"{what} on standard input has more than {MOST_BYTES >> 20} MiB; shorten it")
        return Named(decoded(data, "standard input"), "standard input", as_json=False)
    data = _bytes(path, what)
    return Named(decoded(data, f"{what} {path!r}"), path, as_json=Path(path).suffix.lower() == ".json")


def document_in(named: Named, what: str, first_line: int = 1) -> "Document":
    """The mapping in the text; raises Mistake with the line for what cannot be read."""
    from skillweave.diagnostics import Severity
    from skillweave.frontmatter import read_json, read_yaml

    if named.as_json:
        document = read_json(named.text, path=named.name)
    else:
        document = read_yaml(named.text, path=named.name, first_line=first_line)
    if document.data is None:
        found = next(found for found in document.diagnostics if found.severity is Severity.ERROR)
        raise Mistake(f"{what} cannot be read: {one_line(found)}")
    return document


def one_line(found: "Diagnostic") -> str:
    """A finding in one line, with its place."""
    place = f"{found.location}: " if found.location else ""
    return f"{place}{found.message}; {found.fix}"


def notes_of(diagnostics: "Sequence[Diagnostic]") -> tuple[str, ...]:
    """What a user should hear about a file that was read all the same: repairs, keys that stand twice."""
    return tuple(map(one_line, diagnostics))


def _bytes(path: str, what: str) -> bytes:
    from skillweave.sources import codes
    from skillweave.sources.files import Refused, read_real

    try:
        return read_real(path, MOST_BYTES).data
    except Refused as refused:
        if refused.code is codes.VANISHED:
            raise Mistake(f"{what} {path!r} does not exist; check the path") from None
        fix = "name a YAML or JSON file" if refused.code is codes.NOT_A_FILE else refused.fix
        raise Mistake(f"{what} {path!r} is not read: {refused.why}; {fix}") from None
