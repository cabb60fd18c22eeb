"""The example runs as it stands, from the stranger's archive to the run that its approval was used up by."""

import subprocess
import sys
from pathlib import Path

from skillweave_trust import ScriptRefused, runner_of

EXAMPLE = Path(__file__).parents[4] / "examples" / "strangers_script.py"


def has_sandbox() -> bool:
    try:
        runner_of("sandbox")
    except ScriptRefused:
        return False
    return True


def test_a_strangers_skill_goes_from_its_archive_through_approval_to_one_run_in_a_sandbox() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True)
    held, *later = (line for line in done.stdout.splitlines() if line.startswith(("model reads:", "tool answers:")))
    assert "quarantined" in held and "`skillweave approve word-count`" in held
    assert "approved         word-count" in done.stdout
    if has_sandbox():
        assert [("exit code 0" in one, "nobody approved" in one) for one in later[1:]] == [
            (False, True),
            (True, False),
            (False, True),
        ]
        assert "4 words" in done.stdout
    else:
        assert "no script is run: no sandbox for scripts is here" in done.stdout
