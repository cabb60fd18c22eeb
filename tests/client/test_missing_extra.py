"""Without the packages of its extra, the client and the service name the extra."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "imported", "extra"),
    [
        ("httpx", "from skillweave.client import Client", "client"),
        ("limits", "from skillweave_server import open_service", "service"),
    ],
    ids=["client", "service"],
)
def test_a_package_that_is_not_installed_is_named_with_the_extra_that_brings_it(
    package: str, imported: str, extra: str
) -> None:
    script = f"import sys; sys.modules[{package!r}] = None; {imported}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert f"needs the package {package}, which is not installed: pip install 'skillweave[{extra}]'" in done.stderr
