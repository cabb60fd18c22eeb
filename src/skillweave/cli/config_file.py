"""A configuration file: finds it, reads it, and says on which line a key stands."""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillweave.cli.failure import Mistake

OWN, PROJECT = "skillweave.toml", "pyproject.toml"
COMMAND = "command"
"""The table of the commands' own tables, as in `[command.weave]`: options may have the names of commands."""
MAX_BYTES = 1 << 20


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
        return _shown(self.path)

    def of_command(self, command: str) -> Mapping[str, object]:
        """The table of a command, empty where there is none."""
        tables = self.table.get(COMMAND)
        table = tables.get(command) if isinstance(tables, Mapping) else None
        return table if isinstance(table, Mapping) else {}

    def place(self, key: str) -> str:
        """`skillweave.toml:3` for a key or a table; without the line where several or none could be meant."""
        name = f"[\"']?{re.escape(key)}[\"']?"
        sets = re.compile(rf"\s*(?:{name}\s*=|\[(?:[^\]]*\.)?\s*{name}\s*\])")
        lines = [number for number, line in enumerate(self.text.split("\n"), 1) if sets.match(line)]
        return f"{self.shown}:{lines[0]}" if len(lines) == 1 else self.shown


def nearest_file(start: Path, home: Path) -> ConfigFile | None:
    """The configuration nearest to a folder, looking upwards to the home folder or the root of a repository.

    `skillweave.toml` wins over a `pyproject.toml`. Above the first folder, one that everybody may write to ends it.
    """
    for folder in (start, *start.parents):
        try:
            mode = os.stat(folder).st_mode  # noqa: PTH116
            own, project = (folder / OWN).is_file(), (folder / PROJECT).is_file()
        except OSError:
            continue  # folders above may belong to others
        if folder != start and mode & stat.S_ISVTX and mode & stat.S_IWOTH:
            return None
        if own:
            return read_file(folder / OWN)
        found = _project(folder / PROJECT) if project else None
        if found is not None or folder == home or os.path.lexists(folder / ".git"):
            return found
    return None


def read_file(path: Path) -> ConfigFile:
    """The configuration in a file that was named or found; raises InvalidConfiguration."""
    if path.name != PROJECT:
        return _parsed(path, _bytes(path))
    found = _project(path)
    if found is None:
        raise InvalidConfiguration(f"{_shown(path)} has no [tool.skillweave]; add it, or name another file")
    return found


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)


def _project(path: Path) -> ConfigFile | None:
    data = _bytes(path)
    # Most of these files are not about skillweave, and are none of its business, broken ones included.
    if b"skillweave" not in data:
        return None
    whole = _parsed(path, data)
    tool = whole.table.get("tool")
    table = tool.get("skillweave") if isinstance(tool, Mapping) else None
    return ConfigFile(path, table, whole.text) if isinstance(table, Mapping) else None


def _bytes(path: Path) -> bytes:
    from skillweave.frontmatter.codes import FILE_TOO_LARGE
    from skillweave.sources.files import Refused, read_real

    try:
        return read_real(str(path), MAX_BYTES).data
    except Refused as refused:
        why = "more than 1 MiB" if refused.code is FILE_TOO_LARGE else refused.why
        raise InvalidConfiguration(
            f"configuration {_shown(path)} cannot be read: {why}; see to the file, or leave it out with --no-config"
        ) from None


def _parsed(path: Path, data: bytes) -> ConfigFile:
    import tomllib

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidConfiguration(f"{_shown(path)}:{line}: this is no UTF-8 text; save it as UTF-8") from None
    try:
        return ConfigFile(path, tomllib.loads(text), text)
    except tomllib.TOMLDecodeError as error:
        why, _, place = str(error).removesuffix(" (at end of document)").partition(" (at line ")
        line = int(place.split(",")[0] or text.count("\n") + 1)
        raise InvalidConfiguration(
            f"{_shown(path)}:{line}: this is no TOML: {why[:1].lower()}{why[1:]}; "
            "mend it, or leave the file out with --no-config"
        ) from None
    except RecursionError:
        raise InvalidConfiguration(f"{_shown(path)} is nested too deeply; it needs one table at most") from None
