"""An adapter is imported with the releases of its framework that it was tested with, or says which those are."""

import subprocess
import sys
from pathlib import Path

import pytest

ADAPTERS = {"langchain": "skillweave.adapters.langchain", "langgraph": "skillweave.adapters.langgraph"}


@pytest.mark.parametrize("package", ADAPTERS)
@pytest.mark.parametrize("release", ["0.9.0", "99.0"])
def test_an_adapter_is_not_imported_beside_a_release_that_it_was_not_tested_with(
    tmp_path: Path, package: str, release: str
) -> None:
    # What is found first on the path says which release is installed.
    says = tmp_path / f"{package}-{release}.dist-info"
    says.mkdir()
    (says / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {release}\n")
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {ADAPTERS[package]}"],
        capture_output=True,
        text=True,
        check=False,
    )
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("skillweave.errors.UnsupportedVersion: ")
    assert f"{package} {release}" in last
    assert "pip install" in last
