"""A folder that paths written by a model do not leave."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MOST_CHARACTERS = 100_000
"""The longest file that is written or shown."""

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Refused(ValueError):
    """What was asked for is not done; the message tells the model why, and what to do instead."""


class Scratch:
    """The folder `root`, made where it does not exist yet; all paths are relative to it, with `/` between names."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root.resolve()

    def place(self, path: str) -> Path:
        """Where the path is; raises Refused for one that would leave the folder, by `..`, a root or a link."""
        names = PurePosixPath(path).parts
        if not names or not path.isprintable() or "\\" in path or ":" in path:
            raise Refused(f"{path[:60]!r} is not a path here; give one such as `src/login.py`")
        if path.startswith("/") or ".." in names:
            raise Refused(f"{path[:60]!r} leaves the folder; give a path inside it, without `..` and not from `/`")
        place = self.root
        for name in names:
            place /= name
            if place.is_symlink():
                raise Refused(f"{path[:60]!r} goes through a link, which is not followed; give a path without links")
        return place

    def write(self, path: str, text: str) -> int:
        """Make or replace a file, the folders above it included, and give its length in characters."""
        if len(text) > MOST_CHARACTERS:
            raise Refused(
                f"{len(text)} characters are more than the {MOST_CHARACTERS} that one file may have; split it"
            )
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            raise Refused("the text holds half of a character (a lone surrogate); write it whole") from None
        place = self.place(path)
        if place.exists() and not place.is_file():
            raise Refused(f"{path[:60]!r} is a folder or a device, not a file; give another path")
        place.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o644)
        with os.fdopen(opened, "wb") as file:
            file.write(data)
        return len(text)

    def read(self, path: str) -> str:
        """The text of a file; raises Refused for one that is not there, is not text, or is too long."""
        place = self.place(path)
        if not place.is_file():
            raise Refused(f"there is no file {path[:60]!r}; there are: {', '.join(self.files()) or 'none'}")
        try:
            with place.open(encoding="utf-8", newline="") as file:
                text = file.read(MOST_CHARACTERS + 1)
        except UnicodeDecodeError:
            raise Refused(f"{path[:60]!r} is not text in UTF-8; only texts are shown") from None
        if len(text) > MOST_CHARACTERS:
            raise Refused(f"{path[:60]!r} has more than {MOST_CHARACTERS} characters; only shorter files are shown")
        return text

    def files(self, most: int = 200) -> list[str]:
        """The paths of the first files, links left out."""
        found = self._walk()
        return [path for path, _ in zip(found, range(most), strict=False)]

    def _walk(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
            for name in sorted(names):
                place = Path(folder, name)
                if not place.is_symlink():
                    yield place.relative_to(self.root).as_posix()
