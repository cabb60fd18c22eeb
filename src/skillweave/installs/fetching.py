"""What a SOURCE means, and its files in a folder that can be read: a folder, an unpacked archive, a cloned repository.

Nothing here speaks to a network: a repository is cloned by `git`, which runs no hook and no filter, and asks nobody.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

from skillweave.installs.archives import TAR_SUFFIXES, ZIP_SUFFIXES, is_archive, unpack
from skillweave.installs.packages import InstallRefused
from skillweave.sources.names import expanded, shown
from skillweave.sources.tree import SKILL_FILES

GIT_SECONDS = 300.0
PROTOCOLS = ("file", "https", "ssh")
"""What a repository is cloned by."""
_SCP = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:(?!//)\S+")
_KEPT = (
    *("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG", "SSH_AUTH_SOCK"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
)
"""What git gets of our environment: no variable that changes what it runs."""


class Kind(StrEnum):
    """What a source is."""

    FOLDER = "folder"
    ARCHIVE = "archive"
    GIT = "git"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where files came from: the source as it was named, without a password; `commit` only where it is a repository."""

    source: str
    kind: Kind
    ref: str | None = None
    commit: str | None = None


@contextmanager
def fetched(source: str, ref: str | None = None) -> Iterator[tuple[Path, Origin]]:
    """The folder with the files of a source while the block lasts, and their origin. Raises InstallRefused."""
    kind, address = _understood(source, ref)
    if kind is Kind.FOLDER:
        yield Path(address), Origin(source, kind)
        return
    with TemporaryDirectory(prefix="skillweave-") as made:
        folder = Path(made) / "source"
        folder.mkdir()
        if kind is Kind.ARCHIVE:
            unpack(Path(address), folder)
            yield folder, Origin(source, kind)
        else:
            commit = _cloned(address, ref, folder)
            yield folder, Origin(without_password(source), kind, ref, commit)


def without_password(address: str) -> str:
    """The address without the user and password in it."""
    if "://" not in address:
        return address
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2] if parts.scheme != "ssh" else re.sub(r":[^@]*@", "@", parts.netloc)
    return urlunsplit(parts._replace(netloc=host))


def _understood(source: str, ref: str | None) -> tuple[Kind, str]:
    """What the source is, and the path or address to read it by."""
    if "\0" in source or "\n" in source or not source.strip():
        raise InstallRefused("the source is empty, or has a line break; name a folder, an archive or a repository")
    path = expanded(Path(source))
    if "://" in source:
        scheme = source.partition("://")[0].lower()
        if scheme not in PROTOCOLS:
            raise InstallRefused(
                f"'{shown(without_password(source)[:200])}' is cloned by {shown(scheme)[:20]}, and only "
                f"{', '.join(PROTOCOLS)} are allowed; clone it yourself, then name the folder"
            )
        return Kind.GIT, source
    if os.path.lexists(path):
        return _on_disk(source, path, ref)
    if _SCP.fullmatch(source):
        return Kind.GIT, source
    raise InstallRefused(
        f"there is no '{shown(source[:200])}'; name a folder, a zip or tar archive, or a git repository "
        "(https://..., ssh://..., git@HOST:PATH)"
    )


def _on_disk(source: str, path: Path, ref: str | None) -> tuple[Kind, str]:
    if path.is_dir():
        bare = all((path / name).exists() for name in ("HEAD", "objects", "refs")) and not (path / "SKILL.md").exists()
        if bare or (ref is not None and (path / ".git").exists()):
            return Kind.GIT, path.resolve().as_uri()
        found = Kind.FOLDER, str(path)
    elif path.name in SKILL_FILES and path.is_file():
        found = Kind.FOLDER, str(path.parent)
    elif is_archive(path) and path.is_file():
        found = Kind.ARCHIVE, str(path)
    else:
        known = ", ".join((*ZIP_SUFFIXES, *TAR_SUFFIXES))
        raise InstallRefused(
            f"'{shown(source)}' is neither a folder nor an archive; name a folder with a SKILL.md, or a file with one "
            f"of the endings {known}"
        )
    if ref is not None:
        raise InstallRefused(f"'{shown(source)}' is no git repository, so it has no branch or tag {ref[:60]!r}")
    return found


def _cloned(address: str, ref: str | None, into: Path) -> str:
    if ref is not None and (ref.startswith("-") or not ref.strip()):
        raise InstallRefused(f"{ref[:60]!r} is no branch or tag; name one as `git branch --all` or `git tag` show it")
    git = shutil.which("git")
    if git is None:
        raise InstallRefused("git is not installed, which clones the repository; install it, or name a folder")
    branch = () if ref is None else ("--branch", ref)
    words = (
        *(git, "-c", f"core.hooksPath={os.devnull}", "clone", "--quiet", "--depth=1", "--single-branch", "--no-tags"),
        *("--no-recurse-submodules", "--template=", *branch, "--", address, str(into)),
    )
    _run(words, address)
    return _run((git, "-C", str(into), "rev-parse", "HEAD"), address).strip()


def _run(words: Sequence[str], address: str) -> str:
    place = shown(without_password(address))
    try:
        done = subprocess.run(  # noqa: S603 - no shell; the address stands behind `--`
            words,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InstallRefused(f"git did not finish cloning {place} in {GIT_SECONDS:.0f} seconds; try again") from None
    except OSError as error:
        raise InstallRefused(f"git cannot be run: {error.strerror}; install it again, or name a folder") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").replace(address, place).strip() or "it says nothing"
        lines = said.splitlines()
        reason = shown(next((line for line in lines if line.startswith(("fatal:", "ERROR"))), lines[-1])[:300])
        raise InstallRefused(f"git cannot clone {place}: {reason}; check the address, the branch and your rights")
    return done.stdout.decode("utf-8", "replace")


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    return {
        **{name: ours[name] for name in _KEPT if name in ours},
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    }
