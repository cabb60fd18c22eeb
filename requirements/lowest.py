"""Prints the digest of all that the tests with the lowest releases depend on: bounds, adapters, stores.

`make lowest` writes it to `lowest.tested` when they pass, and `make test` runs them where it is another one.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = (
    "src/skillweave/adapters",
    "src/skillweave/stores",
    "packages/skillweave-stores/src",
    "packages/skillweave-testing/src/skillweave_testing/hosts",
    "examples/scripted",
)


def parts() -> Iterator[bytes]:
    """Yields the names and the bytes of what counts, in an order that is the same everywhere."""
    for project in (ROOT / "pyproject.toml", ROOT / "packages" / "skillweave-stores" / "pyproject.toml"):
        bounds = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        extras = {name: bound for name, bound in bounds.get("optional-dependencies", {}).items() if name != "dev"}
        yield repr((sorted(bounds["dependencies"]), sorted(extras.items()))).encode()
    yield (ROOT / "requirements" / "lowest.txt").read_bytes()
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix().encode()
            yield file.read_bytes().replace(b"\r\n", b"\n")


if __name__ == "__main__":
    digest = hashlib.sha256()
    for part in parts():
        digest.update(len(part).to_bytes(8, "big") + part)
    print(digest.hexdigest())
