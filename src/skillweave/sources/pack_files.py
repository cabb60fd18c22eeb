"""The files of one pack: the one that was named, and what it names itself, none of it outside of its folder."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from skillweave.formats.identity import digest_of_bytes
from skillweave.sources import codes
from skillweave.sources.files import Refused, read_inside, read_real

MOST_PACK_BYTES = 16 * 1024 * 1024
"""Of one file of a pack, and of all that it names together."""


@dataclass(slots=True)
class PackFiles:
    """Reads each file of a pack once, and keeps its digest, None if it was unreadable; `main` is the pack's path."""

    main: str
    digests: dict[str, str | None] = field(default_factory=dict)
    _held: dict[str, bytes] = field(default_factory=dict)
    _size: int = 0

    def read_main(self) -> bytes:
        """The pack's own file; raises Refused."""
        data = read_real(self.main, MOST_PACK_BYTES).data
        self.digests[""] = digest_of_bytes(data)
        return data

    def read(self, name: str) -> bytes:
        """A file that the pack names, by its path below the pack's folder; raises Refused."""
        if name in self._held:
            return self._held[name]
        self.digests[name] = None
        path = PurePosixPath(name)
        if not name or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
            raise Refused(codes.PACK_FILE, "it is no path below the pack's folder", "name a file beside the pack")
        folder = os.path.dirname(os.path.realpath(self.main))  # noqa: PTH120
        data = read_inside(folder, "", name, MOST_PACK_BYTES - self._size, base=folder).data
        self._size += len(data)
        self._held[name] = data
        self.digests[name] = digest_of_bytes(data)
        return data

    def unchanged_since(self, before: Mapping[str, str | None]) -> bool:
        """Whether every file of before can be read, or not, with the same content as then."""
        try:
            self.read_main()
        except Refused:
            return False
        for name in filter(None, before):
            with suppress(Refused):
                self.read(name)
        return self.digests == dict(before)

    def paths(self) -> tuple[Path, ...]:
        """The files that were read or looked for so far, as absolute paths, the pack's own first."""
        main = Path(self.main)
        return (main, *(main.parent / name for name in self.digests if name))
