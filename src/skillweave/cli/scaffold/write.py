"""A new folder with files: there in full under its name, or not there at all."""

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from skillweave.cli.failure import Mistake


def write_folder(target: Path, files: Mapping[str, str]) -> None:
    """Write the files, by their paths below the new folder; raises Mistake where something has its name already.

    They are written into a folder beside it, which then takes the name: whoever looks sees all of it or nothing.
    """
    _require_free(target)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        for path, text in files.items():
            (beside / path).parent.mkdir(parents=True, exist_ok=True)
            (beside / path).write_bytes(text.encode())
        _require_free(target)
        beside.rename(target)
    except OSError as error:
        raise Mistake(
            f"{target} cannot be written: {error.strerror or error}; name a folder that is yours with --in"
        ) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _require_free(target: Path) -> None:
    if os.path.lexists(target):
        raise Mistake(f"{target} is there already and stays as it is; choose another name, or another folder with --in")
