"""What the user said yes to, in the user's own folder of settings: skills by their manifest, single runs of scripts."""

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from skillweave.errors import InvalidValue
from skillweave.manifest import Manifest, sha256_of
from skillweave.values import Portable

__all__ = ["Approvals", "Approved", "run_key"]


@dataclass(frozen=True, slots=True)
class Approved(Portable):
    """One yes: to a skill, or to one run of its script, as its files are by the manifest's digest."""

    skill: str
    digest: str
    at: str
    path: str | None = None
    arguments: tuple[str, ...] = ()


def run_key(manifest: Manifest, path: str, arguments: Sequence[str]) -> str:
    """Returns what tells one run from all others: the skill's files, the script, the arguments in their order."""
    return sha256_of(json.dumps([manifest.digest, path, list(arguments)]).encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Approvals:
    """A folder with a file for each yes; no source of skills can write there, as it is not among the skills."""

    folder: Path

    @classmethod
    def of_user(cls) -> "Approvals":
        """The user's own, in the folder where the system keeps settings."""
        return cls(Path(platformdirs.user_config_dir("skillweave")) / "approvals")

    def approve(self, skill: str, manifest: Manifest) -> Approved:
        """Lets the skill in as long as its files are these. Raises InvalidValue where that cannot be written."""
        yes = Approved(skill, manifest.digest, _now())
        self._write("skills", sha256_of(f"{skill} {manifest.digest}".encode()), yes)
        return yes

    def is_approved(self, skill: str, manifest: Manifest) -> bool:
        """Whether the skill was let in with exactly these files."""
        return self._place("skills", sha256_of(f"{skill} {manifest.digest}".encode())).is_file()

    def revoke(self, skill: str, manifest: Manifest) -> bool:
        """Takes the yes back; returns whether there was one."""
        return self._take("skills", sha256_of(f"{skill} {manifest.digest}".encode()))

    def approve_run(self, skill: str, manifest: Manifest, path: str, arguments: Sequence[str]) -> Approved:
        """Lets the script run once with these arguments. Raises InvalidValue where that cannot be written."""
        yes = Approved(skill, manifest.digest, _now(), path, tuple(arguments))
        self._write("runs", run_key(manifest, path, arguments), yes)
        return yes

    def consume_run(self, manifest: Manifest, path: str, arguments: Sequence[str]) -> bool:
        """Uses the yes to a run up; of several callers at the same time one gets True."""
        return self._take("runs", run_key(manifest, path, arguments))

    def remembered(self, folder: Path, origins: Mapping[str, str]) -> dict[str, str]:
        """Returns the origins of a folder's skills, and of those that its lock once named and names no more.

        The lock lies among the skills: who can write there could take a skill out of it, to pass it off as the user's.
        """
        place = self.folder / "origins" / f"{sha256_of(os.fsencode(folder.resolve()))}.json"
        try:
            known = json.loads(place.read_text("utf-8")) if place.exists() else {}
            together = {**known, **origins}
            if together != known:
                self._put(place, json.dumps(together, indent=1, sort_keys=True))
        except (OSError, ValueError, TypeError) as error:
            raise InvalidValue(f"{place} cannot be read or written: {error}; check its rights, or remove it") from None
        return together

    def _place(self, kind: str, key: str) -> Path:
        return self.folder / kind / f"{key}.json"

    def _take(self, kind: str, key: str) -> bool:
        try:
            self._place(kind, key).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise InvalidValue(f"{self.folder} cannot be written: {error.strerror}; check its rights") from None
        return True

    def _write(self, kind: str, key: str, yes: Approved) -> None:
        try:
            self._put(self._place(kind, key), json.dumps(yes.to_dict(), indent=1))
        except OSError as error:
            raise InvalidValue(f"{self.folder} cannot be written: {error.strerror}; check its rights") from None

    @staticmethod
    def _put(place: Path, text: str) -> None:
        beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside.write_text(text, "utf-8")
        beside.replace(place)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
