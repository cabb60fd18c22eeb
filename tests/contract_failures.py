"""What pytest says of contract suites that are run over backends with a mistake, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

PLUGINS = ("-p", "pytest_asyncio.plugin", "-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider")
"""What the contracts need: the others that are installed take seconds to load."""


def contract_failures(*files: Path) -> str:
    """The output of pytest for these files of backends, each of which has a mistake that a test must find."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=no", *PLUGINS, *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert "failed" in done.stdout, done.stdout + done.stderr
    return done.stdout
