"""What a person approved of other servers' skills: kept in the user's own configuration, bound to the manifest."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path

from skillweave import SkillweaveError
from skillweave.values import Portable
from skillweave_mcp.host.held import Held

FILE = "mcp-approvals.json"


@dataclass(frozen=True, slots=True)
class Approved(Portable):
    """A yes to one skill as it was: the digest of its manifest, and whether its `allowed-tools` are granted."""

    manifest: str
    tools: bool = False


class Approvals:
    """The approvals in a file, by default in the user's configuration; no source and no skill can write there."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path) if path is not None else user_config_path("skillweave") / FILE

    def of(self, held: Held) -> Approved | None:
        """Returns the approval of the skill as it is now; one of other files is none. Raises SkillweaveError."""
        found = self._read().get(held.identity)
        return found if found is not None and found.manifest == held.manifest.digest else None

    def add(self, held: Held, *, tools: bool = False) -> None:
        """Notes a person's yes to exactly these files. Raises SkillweaveError."""
        self._write({**self._read(), held.identity: Approved(held.manifest.digest, tools)})

    def remove(self, held: Held) -> None:
        """Takes a yes back. Raises SkillweaveError."""
        self._write({key: one for key, one in self._read().items() if key != held.identity})

    def _read(self) -> Mapping[str, Approved]:
        try:
            stored = json.loads(self.path.read_bytes())
            return {str(key): Approved.from_dict(one) for key, one in stored.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError, SkillweaveError) as error:
            raise SkillweaveError(
                f"the approvals in '{self.path}' cannot be read ({error}); mend or remove the file"
            ) from None

    def _write(self, approved: Mapping[str, Approved]) -> None:
        text = json.dumps({key: one.to_dict() for key, one in sorted(approved.items())}, indent=2)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_suffix(".new")
            beside.touch(mode=0o600)
            beside.write_text(f"{text}\n", "utf-8")
            beside.replace(self.path)
        except OSError as error:
            raise SkillweaveError(f"the approvals in '{self.path}' cannot be written: {error.strerror}") from None
