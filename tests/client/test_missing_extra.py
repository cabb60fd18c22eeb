"""Without the packages of its extra, the client names the extra."""

import subprocess
import sys


def test_a_package_that_is_not_installed_is_named_with_the_extra_that_brings_it() -> None:
    script = "import sys; sys.modules['httpx'] = None; from skillweave.client import Client"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "needs the package httpx, which is not installed: pip install 'skillweave[client]'" in done.stderr
