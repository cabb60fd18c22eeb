"""Distributions that add to the engine: how to install one from where this engine came."""

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import unquote, urlsplit

from skillweave.errors import SkillweaveError
from skillweave.redaction import without_secrets

ENGINE = "skillweave"


class MissingDistribution(SkillweaveError, ImportError):
    """Something that a distribution brings which is not installed; `distribution` is its name."""

    def __init__(self, what: str, name: str) -> None:
        self.distribution = name
        super().__init__(f"{what} comes with {name}, which is not installed; {how_to_install(name)}")


def how_to_install(name: str) -> str:
    """Returns how to install one of our distributions from the place that this engine was installed from.

    Never names it alone: on a public index anybody could own that name.
    """
    origin = _origin()
    url = str(origin.get("url", ""))
    git = origin.get("vcs_info", {})
    if git.get("vcs") == "git":
        address = f"git+{without_secrets(url)}@{git['commit_id']}#subdirectory=packages/{name}"
        return f'install it: pip install "{name} @ {address}"'
    parts = urlsplit(url)
    checkout = Path(unquote(parts.path)) if parts.scheme == "file" else Path(__file__).parents[2]
    folder = checkout / "packages" / name
    if folder.is_dir():
        return f"install it: pip install {quote(str(folder))}"
    return f"install {name} from the same place as {ENGINE} itself"


def _origin() -> dict[str, Any]:
    """What the installer noted about where the engine came from; empty for one from an index."""
    try:
        noted = json.loads(distribution(ENGINE).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}
