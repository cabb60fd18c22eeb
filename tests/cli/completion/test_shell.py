import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillweave.cli import SHELLS, installed_script, script_of, this_shell

PROGRAM = Path(sys.executable).with_name("skillweave")


def run(home: Path, option: str, shell: str) -> subprocess.CompletedProcess[str]:
    # A child of a shell is told from the processes above it; without any, SHELL is what there is to go by.
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "SHELL": shell}
    command = f"import os; os.setsid(); os.execv({str(PROGRAM)!r}, ['skillweave', {option!r}])"
    return subprocess.run(
        [sys.executable, "-c", command], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_a_script(shell: str) -> None:
    assert "_SKILLWEAVE_COMPLETE" in script_of(shell)


def test_a_shell_that_is_none_of_ours_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import shellingham

    def fail() -> None:
        raise shellingham.ShellDetectionFailure

    monkeypatch.setattr(shellingham, "detect_shell", fail)
    assert this_shell({"SHELL": "/usr/bin/tcsh"}) is None
    assert this_shell({}) is None
    assert this_shell({"SHELL": "/usr/local/bin/fish"}) == "fish"


def test_installing_puts_the_script_into_the_home_folder_where_doctor_finds_it(tmp_path: Path) -> None:
    done = run(tmp_path, "--install-completion", "/bin/bash")
    assert (done.returncode, done.stderr) == (0, "")
    shell = this_shell() or "bash"
    script = installed_script(shell, tmp_path)
    assert script is not None, f"{shell} keeps it where doctor does not look"
    assert done.stdout == f"completion for {shell} is set up in {script}; it works in every new shell\n"
    assert "_SKILLWEAVE_COMPLETE" in script.read_text(encoding="utf-8")


def test_showing_prints_the_script_and_changes_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "--show-completion", "/bin/bash")
    assert (done.returncode, done.stderr) == (0, "")
    assert "_SKILLWEAVE_COMPLETE" in done.stdout
    assert list(tmp_path.iterdir()) == []
