"""Which of our distributions brings what, and how to install one from where this one came."""

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit


def how_to_install(name: str) -> str:
    """Returns how to install a distribution of ours from where the engine came: a checkout, a git address, an index.

    Never a bare name: on a public index it could belong to somebody else.
    """
    brings = f"the distribution {name} brings it"
    origin = _origin()
    url = str(origin.get("url", ""))
    subdirectory = f"packages/{name}"
    if url.startswith("file://") and "dir_info" in origin:
        folder = Path(unquote(urlsplit(url).path)) / subdirectory
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f"{brings}: pip install {editable}'{folder}'"
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        revision = vcs.get("commit_id") or vcs.get("requested_revision")
        at = f"@{revision}" if revision else ""
        return f"{brings}: pip install '{name} @ {vcs.get('vcs', 'git')}+{url}{at}#subdirectory={subdirectory}'"
    return f"{brings}; install it from the place that skillweave itself was installed from"


def _origin() -> dict[str, dict[str, object]]:
    """Returns what the installer wrote down about where the engine came from (PEP 610), or an empty dict."""
    try:
        found = json.loads(distribution("skillweave").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
