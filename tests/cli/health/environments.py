"""Real virtual environments, made in a moment: links to exactly the packages that are wanted, and our own metadata."""

import json
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from skillweave import __version__

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
NO_NETWORK = """
import socket

def refuse(*_):
    raise AssertionError("doctor opens a connection")

socket.socket.connect = socket.getaddrinfo = refuse
"""


@dataclass(frozen=True, slots=True)
class Environment:
    """An interpreter with packages of its own, and nothing else."""

    python: Path
    site: Path

    def doctor(self, *words: str, cwd: Path) -> tuple[int, Any]:
        """What `skillweave doctor --json` answers in it."""
        done = self._run("-m", "skillweave", "doctor", "--json", *words, cwd=cwd)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def skillweave(self, *words: str, cwd: Path) -> tuple[int, str]:
        """The exit code of a command in it, and what is said on stderr."""
        done = self._run("-m", "skillweave", *words, cwd=cwd)
        return done.returncode, done.stderr

    def look(self, module: str, function: str) -> dict[str, dict[str, Any]]:
        """What one part of it finds, by subject."""
        code = (
            f"import asyncio, json; from skillweave.cli.health.{module} import {function} as look\n"
            "async def all_of_it(): return [found.to_dict() async for found in look()]\n"
            "print(json.dumps(asyncio.run(all_of_it())))"
        )
        done = self._run("-c", code, cwd=self.site)
        assert done.returncode == 0, done.stderr
        return {f"{found['section']} {found['subject']}": found for found in json.loads(done.stdout)}

    def importing(self, *modules: str) -> str:
        """What Python says last when the modules are imported there, empty where they can be."""
        done = self._run("-c", f"import {', '.join(modules)}", cwd=self.site)
        return done.stderr.strip().rpartition("\n")[2]

    def add(self, name: str, version: str, modules: dict[str, str], entry_points: str = "") -> None:
        """A package made up on the spot."""
        for path, text in modules.items():
            (self.site / path).write_text(text, encoding="utf-8")
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")

    def relabel(self, name: str, version: str) -> None:
        """Let an installed package say that it is another release; its code stays."""
        written = name.replace("-", "_")
        known = next(self.site.glob(f"{written}-*.dist-info"))
        known.unlink() if known.is_symlink() else shutil.rmtree(known)
        self.add(written, version, {})

    def remove(self, name: str) -> None:
        """Take a package out again."""
        for link in self.site.iterdir():
            if link.is_symlink() and link.name in _entries(name):
                link.unlink()

    def _run(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.site), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [self.python, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False
        )


def environment_with(folder: Path, wanted: Iterable[str]) -> Environment:
    """An environment with skillweave, the wanted packages, and what those need."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = folder / "lib" / version / "site-packages"
    for name in closure(wanted):
        origin = Path(str(distribution(name).locate_file("")))
        for entry in _entries(name):
            if not (site / entry).exists():
                (site / entry).symlink_to(origin / entry)
    sources = (ROOT / "src", ROOT / "packages" / "skillweave-testing" / "src")
    (site / "skillweave.pth").write_text("\n".join(map(str, sources)), encoding="utf-8")
    (site / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    environment = Environment(folder / "bin" / "python", site)
    environment.add("skillweave", __version__, {}, _entry_points())
    with (site / f"skillweave-{__version__}.dist-info" / "METADATA").open("a", encoding="utf-8") as metadata:
        metadata.write(_requirements())
    return environment


def needed() -> list[str]:
    """The packages that skillweave cannot do without."""
    return [Requirement(text).name for text in PROJECT["dependencies"]]


def packages_of(extra: str) -> list[str]:
    """The packages of an extra, also those of the extras that it is made of."""
    names: list[str] = []
    for text in EXTRAS[extra]:
        requirement = Requirement(text)
        inner = [packages_of(other) for other in sorted(requirement.extras)] if requirement.name == "skillweave" else []
        names += [name for group in inner for name in group] or [requirement.name]
    return names


def is_installed(name: str) -> bool:
    """Whether the environment of the tests has it, so that it can be linked."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def closure(wanted: Iterable[str]) -> list[str]:
    """The wanted packages and all that those need in turn."""
    found: list[str] = []
    pending = [(Requirement(name).name, "") for name in wanted]
    seen = set(pending)
    while pending:
        name, extra = pending.pop()
        name = name.lower().replace("_", "-")
        if name not in found:
            found.append(name)
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                more = {(requirement.name, inner) for inner in ("", *requirement.extras)} - seen
                seen |= more
                pending += more
    return found


@lru_cache
def _entries(name: str) -> frozenset[str]:
    """What stands at the top of site-packages because of a package."""
    files = distribution(name).files or ()
    return frozenset(file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__", "/"))


def _requirements() -> str:
    lines = [f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Requires-Dist: {text}" for text in PROJECT["dependencies"]]
    for extra, texts in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {_only_with(extra, text)}" for text in texts]
    return "\n".join(lines) + "\n"


def _only_with(extra: str, requirement: str) -> str:
    stated, _, marker = requirement.partition(";")
    condition = f"({marker.strip()}) and extra == '{extra}'" if marker else f"extra == '{extra}'"
    return f"{stated.strip()} ; {condition}"


def _entry_points() -> str:
    groups = PROJECT.get("entry-points", {}).items()
    return "\n".join(
        f"[{group}]\n" + "\n".join(f"{key} = {value}" for key, value in of.items()) for group, of in groups
    )
