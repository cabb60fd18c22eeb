"""The site as its generator builds it, where that is installed (`make docs` installs it apart)."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from docs.tools.run import ROOT

pytestmark = pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not in this environment: `make docs`")


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert (tmp_path / "index.html").is_file()
