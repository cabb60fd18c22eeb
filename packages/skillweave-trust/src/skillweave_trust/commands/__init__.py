"""The commands for skills of strangers."""

from skillweave.extensions import CommandSpec

_SHOWN = f"{__name__}.shown"

APPROVE = CommandSpec("Let in a skill, or one run of its script.", f"{__name__}.approve", f"{_SHOWN}:Yes")
SCAN = CommandSpec("Look for attacks in skills.", f"{__name__}.scan", f"{_SHOWN}:Scanned")
SIGN = CommandSpec("Sign a skill with your key.", f"{__name__}.sign", f"{_SHOWN}:Signed")
VERIFY = CommandSpec("Say whose signature a skill has.", f"{__name__}.sign", f"{_SHOWN}:Signed")
