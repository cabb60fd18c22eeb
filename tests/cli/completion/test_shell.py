import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("skillweave")


@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
def test_completion_is_shown_or_set_up_for_bash(tmp_path: Path, option: str) -> None:
    command = f"HOME='{tmp_path}' '{PROGRAM}' {option}; true"
    done = subprocess.run(
        ["/bin/bash", "-c", command], env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    scripts = list((tmp_path / ".bash_completions").glob("*.sh"))
    assert len(scripts) == (option == "--install-completion")
    shown = scripts[0].read_text(encoding="utf-8") if scripts else done.stdout
    assert "_SKILLWEAVE_COMPLETE" in shown
