import subprocess
import sys
from pathlib import Path

import pytest

import skillweave

HEAVY = ("numpy", "tiktoken", "re2", "ahocorasick_rs", "yaml", "typer", "sqlite3", "asyncio", "pydantic", "ada_url")


def run(script: str) -> str:
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stderr == ""
    return answer.stdout


def test_importing_prints_nothing_and_loads_nothing_that_is_not_used_yet() -> None:
    loaded = run("import skillweave, sys; print('\\n'.join(sys.modules))").splitlines()
    assert [name for name in HEAVY if name in loaded] == []
    assert {name for name in loaded if name.startswith("skillweave")} == {"skillweave", "skillweave._version"}


def test_every_export_can_be_had_twice() -> None:
    for name in skillweave.__all__:
        assert getattr(skillweave, name) is getattr(skillweave, name)


@pytest.mark.soak
def test_an_export_survives_the_import_of_every_submodule() -> None:
    script = (
        "import pkgutil, importlib, skillweave\n"
        "skip = ('skillweave_testing', 'skillweave.__main__')\n"
        "for module in pkgutil.walk_packages(skillweave.__path__, 'skillweave.'):\n"
        "    if not module.name.startswith(skip): importlib.import_module(module.name)\n"
        "print(callable(skillweave.open), skillweave.Weaver.__name__, skillweave.State.__name__)"
    )
    assert run(script) == "True Weaver State\n"


def test_the_exports_are_written_out() -> None:
    assert set(dir(skillweave)) == set(skillweave.__all__)
    stub = Path(skillweave.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert [name for name in skillweave.__all__ if f"{name} as {name}" not in stub and name != "open"] == []


def test_an_unknown_name_is_answered_with_the_exports() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", "import skillweave; skillweave.wieve"], capture_output=True, text=True, check=False
    )
    assert "has no attribute 'wieve'; it exports ApprovalVerdict, Block" in answer.stderr
