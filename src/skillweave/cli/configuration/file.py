"""A configuration file: found, read, and able to say on which line a key stands."""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillweave.cli.failure import Mistake

OWN, PROJECT = "skillweave.toml", "pyproject.toml"
TABLE = ("tool", "skillweave")
"""Where the configuration stands in a pyproject.toml."""
COMMAND = "command"
"""The table of the commands' own tables, as in `[command.weave]`: options may have the names of commands."""
MAX_BYTES = 1 << 20
_HEADING = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_SETS = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=""")


class InvalidConfiguration(Mistake):
    """A configuration file or variable that cannot be taken as it is; names the place, the key and the remedy."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file with a configuration: its table as TOML has it, and its text to find lines in."""

    path: Path
    table: Mapping[str, object]
    text: str

    @property
    def shown(self) -> str:
        """The path as a person in the current folder would type it."""
        return shown_path(self.path)

    def of_command(self, command: str) -> Mapping[str, object]:
        """The table of a command, empty where there is none."""
        tables = self.table.get(COMMAND)
        table = tables.get(command) if isinstance(tables, Mapping) else None
        return table if isinstance(table, Mapping) else {}

    def place(self, key: str, *tables: str) -> str:
        """`skillweave.toml:3` for a key or a table inside of tables; without the line where that is not certain."""
        above = (*(TABLE if self.path.name == PROJECT else ()), *tables)
        lines = [
            number
            for number, (table, name) in enumerate(_keys(self.text), 1)
            if (table, name) in ((above, key), ((*above, key), None))
        ]
        return f"{self.shown}:{lines[0]}" if len(lines) == 1 else self.shown


def nearest_file(start: Path, home: Path) -> ConfigFile | None:
    """The configuration nearest to a folder, looking upwards to the home folder or the root of a repository.

    `skillweave.toml` wins over the `pyproject.toml` beside it, which counts only with a `[tool.skillweave]`. Above the
    first folder, one that everybody may write to, such as /tmp, ends the search: a stranger's file is not obeyed.
    """
    for folder in (start, *start.parents):
        if folder != start and _is_everybodys(folder):
            return None
        own, project = folder / OWN, folder / PROJECT
        if _is_file(own):
            return read_file(own)
        found = _project(project) if _is_file(project) else None
        if found is not None or folder == home or os.path.lexists(folder / ".git"):
            return found
    return None


def read_file(path: Path) -> ConfigFile:
    """The configuration in a file that was named or found; raises InvalidConfiguration."""
    if path.name != PROJECT:
        text = _text(path, _bytes(path))
        return ConfigFile(path, _parsed(path, text), text)
    found = _project(path)
    if found is None:
        raise InvalidConfiguration(f"{shown_path(path)} has no [tool.skillweave]; add it, or name another file")
    return found


def shown_path(path: Path) -> str:
    """The path, relative where it is below the current folder."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)


def _project(path: Path) -> ConfigFile | None:
    data = _bytes(path)
    # Most of these files are not about skillweave, and are none of its business, broken ones included.
    if TABLE[1].encode() not in data:
        return None
    text = _text(path, data)
    table: object = _parsed(path, text)
    for name in TABLE:
        table = table.get(name) if isinstance(table, Mapping) else None
    return ConfigFile(path, table, text) if isinstance(table, Mapping) else None


def _bytes(path: Path) -> bytes:
    from skillweave.frontmatter.codes import FILE_TOO_LARGE
    from skillweave.sources.files import Refused, read_real

    try:
        return read_real(str(path), MAX_BYTES).data
    except Refused as refused:
        name = shown_path(path)
        if refused.code is FILE_TOO_LARGE:
            raise InvalidConfiguration(f"configuration {name} has more than 1 MiB; name another file") from None
        raise InvalidConfiguration(
            f"configuration {name} cannot be read: {refused.why}; see to the file, or leave it out with --no-config"
        ) from None


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidConfiguration(f"{shown_path(path)}:{line}: this is no UTF-8 text; save it as UTF-8") from None


def _parsed(path: Path, text: str) -> Mapping[str, object]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why, _, place = str(error).removesuffix(" (at end of document)").partition(" (at line ")
        line = place.split(",")[0] or text.count("\n") + 1
        raise InvalidConfiguration(
            f"{shown_path(path)}:{line}: this is no TOML: {why[:1].lower()}{why[1:]}; "
            "mend it, or leave the file out with --no-config"
        ) from None
    except RecursionError:
        raise InvalidConfiguration(f"{shown_path(path)} is nested too deeply; it needs one table at most") from None


def _is_file(path: Path) -> bool:
    """Whether there is a file that can be looked at; folders above may belong to others."""
    try:
        return path.is_file()
    except OSError:
        return False


def _is_everybodys(folder: Path) -> bool:
    """Whether it is a folder such as /tmp: everybody may write, each their own."""
    try:
        mode = os.stat(folder).st_mode  # noqa: PTH116
    except OSError:
        return False
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """For each line the table that it stands in and the key that it sets, None for the heading of a table."""
    table: tuple[str, ...] = ()
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading is not None:
            table = tuple(part.strip().strip("\"'") for part in heading.group(1).split("."))
            yield table, None
            continue
        found = _SETS.match(line)
        yield table, next(filter(None, found.groups()), "") if found else ""
