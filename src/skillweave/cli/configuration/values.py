"""From what a file or a variable holds to what an option takes: its type checked, its paths made to fit."""

import os
from collections.abc import Mapping
from pathlib import Path

from skillweave.cli.configuration.keys import Key, Kind
from skillweave.sources.names import expanded

EXAMPLES: Mapping[Kind, str] = {
    Kind.FLAG: "true",
    Kind.WHOLE: "10",
    Kind.NUMBER: "0.5",
    Kind.TEXT: '"..."',
    Kind.TEXTS: '["...", "..."]',
}


class WrongType(Exception):
    """A value of another type than the option's; the text says what it is and what it must be."""


def from_toml(key: Key, value: object, folder: Path) -> object:
    """The value for the option; relative paths start from the file's folder. Raises WrongType."""
    if not _is(key.kind, value):
        stands = "has an entry that is" if key.kind is Kind.TEXTS and isinstance(value, list) else "is"
        wrong = next((item for item in value if not isinstance(item, str)), value) if isinstance(value, list) else value
        raise WrongType(
            f"{key.name!r} {stands} {_type(wrong)}, and must be {key.kind.value}; "
            f"write for example {key.name} = {EXAMPLES[key.kind]}"
        )
    if not key.is_path:
        return value
    if isinstance(value, list):
        return [_placed(path, folder) for path in value]
    return _placed(str(value), folder)


def from_text(key: Key, text: str) -> object:
    """The value of an environment variable: lists of paths are separated as in PATH, others by commas."""
    if key.kind is not Kind.TEXTS:
        return text
    parts = text.split(os.pathsep if key.is_path else ",")
    return [part.strip() for part in parts if part.strip()]


def why_refused(key: Key, value: object, message: str) -> str:
    """Why an option does not take a value of its type, in the words for people; `message` is what its parser says."""
    return f"{str(value)[:40]!r} is neither yes nor no" if key.kind is Kind.FLAG else message.rstrip(".")


def _is(kind: Kind, value: object) -> bool:
    if isinstance(value, bool) or kind is Kind.FLAG:
        return isinstance(value, bool) and kind is Kind.FLAG
    if kind is Kind.TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    types: Mapping[Kind, tuple[type, ...]] = {Kind.WHOLE: (int,), Kind.NUMBER: (int, float), Kind.TEXT: (str,)}
    return isinstance(value, types[kind])


def _type(value: object) -> str:
    if isinstance(value, str):
        return f"a text ({value[:40]!r})"
    names: dict[type, str] = {bool: "a truth value", int: "a whole number", float: "a fraction", dict: "a table"}
    return names.get(type(value), "a list" if isinstance(value, list) else "a date or a time")


def _placed(path: str, folder: Path) -> str:
    """The path as it is meant in a file of that folder; of URLs only those of a SQLite file hold a path."""
    scheme, separator, rest = path.partition("://")
    if separator:
        inner = rest.removeprefix("/")
        return f"sqlite:///{_placed(inner, folder)}" if scheme == "sqlite" and inner else path
    if path.startswith("~"):
        return str(expanded(Path(path)))
    return path if not path or _is_current(folder) else str(folder / path)


def _is_current(folder: Path) -> bool:
    try:
        return folder == Path.cwd()
    except OSError:
        return False
