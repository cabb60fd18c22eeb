"""Which shell this is, and whether completion is set up in it."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from skillweave.cli.failure import Mistake

PROGRAM = "skillweave"
VARIABLE = "_SKILLWEAVE_COMPLETE"
"""Set by the script of a shell when it asks for completions."""
SCRIPTS: Mapping[str, str] = MappingProxyType(
    {
        "bash": f".bash_completions/{PROGRAM}.sh",
        "zsh": f".zfunc/_{PROGRAM}",
        "fish": f".config/fish/completions/{PROGRAM}.fish",
    }
)
"""Where the script of a shell is put below the home folder; PowerShell keeps it in a profile that only it can name."""
SHELLS = (*SCRIPTS, "powershell", "pwsh")


def this_shell(environment: Mapping[str, str] = os.environ) -> str | None:
    """The shell that runs this program, else the user's own; None where it cannot be told."""
    import shellingham  # type: ignore[import-untyped]

    try:
        name, _ = shellingham.detect_shell()
    except (shellingham.ShellDetectionFailure, OSError):
        name = Path(environment.get("SHELL", "")).name
    return name.lower() if name.lower() in SHELLS else None


def require_shell() -> str:
    """The same; raises Mistake where it cannot be told."""
    shell = this_shell()
    if shell is None:
        raise Mistake(f"this is no shell that completion is known for; start one of {', '.join(SHELLS)} and try again")
    return shell


def script_of(shell: str) -> str:
    """What the shell has to run for completion."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    return str(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell))


def install_in(shell: str) -> Path:
    """Set completion up for every new shell of this user; the file that was written."""
    from typer.completion import install  # type: ignore[attr-defined]

    _, path = install(shell=shell, prog_name=PROGRAM, complete_var=VARIABLE)
    return Path(path)


def installed_script(shell: str, home: Path) -> Path | None:
    """The script that an earlier installation has left, None where there is none or its place is not known."""
    path = home / SCRIPTS[shell] if shell in SCRIPTS else None
    return path if path is not None and path.is_file() else None
