import subprocess
import sys

import skillweave_testing


def test_every_name_that_the_testing_kit_exports_is_there() -> None:
    assert [name for name in skillweave_testing.__all__ if getattr(skillweave_testing, name).__name__ != name] == []


def test_loading_the_fixtures_imports_no_optional_package() -> None:
    code = "import skillweave_testing.fixtures, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"psycopg", "redis", "sqlalchemy", "httpx", "hypothesis"}.isdisjoint(done.stdout.split())
