"""The runners by name, what each holds, and the command by which it starts an interpreter."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from skillweave.errors import InvalidValue
from skillweave_trust.scripts import seccomp
from skillweave_trust.scripts.staging import Stage
from skillweave_trust.scripts.values import Limits, ScriptRefused

__all__ = ["RUNNERS", "Bubblewrap", "Runner", "Sandlock", "Unsafe", "runner_of"]

_WATCHED = "the whole tree is watched every 20 ms and killed above the limit"
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/openssl.cnf")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/work", "TMPDIR": "/work", "LANG": "C.UTF-8"}
"""All that a script finds in its environment; the folders are those that the runner shows."""


class Runner(Protocol):
    """What starts a script behind barriers."""

    @property
    def name(self) -> str:
        """How users and answers call it."""
        ...

    @property
    def own_processes(self) -> int:
        """How many processes below the one that is started belong to the runner itself."""
        ...

    @property
    def held(self) -> Mapping[str, str]:
        """What it bounds, and by what."""
        ...

    @property
    def not_held(self) -> Mapping[str, str]:
        """What it cannot bound."""
        ...

    def problem(self) -> str | None:
        """Why it cannot run on this machine, with the words that install it; None where it can."""
        ...

    def command(self, stage: Stage, argv: Sequence[str], readable: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """The command that runs `argv`, whose paths below the stage are the machine's, behind the barriers."""
        ...


_COMMON = {
    "time": "killed at the limit, with everything that it started",
    "memory": f"resident bytes: {_WATCHED}",
    "output": "killed above the limit",
    "written": f"16 MiB for one file by the kernel; together, {_WATCHED}",
}


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Namespaces of the kernel, by the program `bwrap`: nothing but the system's programs and the copy is there."""

    name: str = "bubblewrap"
    own_processes: int = 2
    held: Mapping[str, str] = field(
        default_factory=lambda: {
            **_COMMON,
            "files": "only the system's programs and the copy of the skill are there, both read-only, and one folder",
            "network": "a network of its own without a connection; no socket of the machine is there",
            "processes": f"its own process numbers; {_WATCHED}",
            "environment": "empty",
        },
        hash=False,
    )
    not_held: Mapping[str, str] = field(
        default_factory=lambda: {"processor": "a run may use every core until its time is over"}, hash=False
    )

    def problem(self) -> str | None:
        """Why it cannot run on this machine, with the words that install it; None where it can."""
        return _bubblewrap_problem(shutil.which("bwrap"))

    def command(self, stage: Stage, argv: Sequence[str], readable: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """The command that runs `argv` with the copy at /skill and the folder to write into at /work."""
        inside = [one.replace(str(stage.skill), "/skill", 1) for one in argv]
        given = shutil.which("bwrap") or "bwrap"
        lent = [word for place in readable for word in ("--ro-bind", place, place)]
        barrier = seccomp.program_file(stage.work.parent / "barrier.bpf")
        size = str(limits.written)
        return (
            *("/bin/sh", "-c", f'exec 9<"$0"; {_ulimits(limits)} exec "$@"', str(barrier) if barrier else "/dev/null"),
            *(given, *(("--seccomp", "9") if barrier else ()), *_OPTIONS, *_bound(_SYSTEM), *lent),
            *("--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108 - inside
            *("--size", size, "--tmpfs", "/tmp", "--ro-bind", str(stage.skill), "/skill"),  # noqa: S108 - inside
            *("--bind", str(stage.work), "/work", "--chdir", "/work", "--remount-ro", "/"),
            *(word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)),
            *("--", *inside),
        )


_OPTIONS = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    *("--uid", "65534", "--gid", "65534", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv"),
)


def _bound(places: Sequence[str]) -> list[str]:
    """The options that show the system's folders as they are: a link as a link."""
    options: list[str] = []
    for place in places:
        if os.path.islink(place):  # noqa: PTH114
            options += ["--symlink", os.readlink(place), place]  # noqa: PTH115
        else:
            options += ["--ro-bind-try", place, place]
    return options


def _ulimits(limits: Limits) -> str:
    blocks = max(1, limits.written // 512)
    return f"ulimit -f {blocks}; ulimit -c 0; ulimit -n 256;"


@cache
def _bubblewrap_problem(program: str | None) -> str | None:
    if program is None:
        return (
            "bubblewrap is not installed: `apt install bubblewrap`, `dnf install bubblewrap`; "
            "the package of that name on PyPI is something else"
        )
    tried = subprocess.run(  # noqa: S603 - a program of the machine, with words of ours
        [program, *_OPTIONS, *_bound(_SYSTEM), "--", "/bin/true"], capture_output=True, timeout=10, check=False
    )
    if tried.returncode == 0:
        return None
    why = tried.stderr.decode("utf-8", "replace").strip()[:200]
    return (
        f"bwrap cannot make its namespaces ({why}); it needs release 0.8 or newer and a kernel that gives user "
        "namespaces to everybody. Where that is restricted, use sandlock"
    )


@dataclass(frozen=True, slots=True)
class Sandlock:
    """Landlock and seccomp, by the package sandlock: what is not named cannot be opened; needs no namespaces."""

    name: str = "sandlock"
    own_processes: int = 0
    held: Mapping[str, str] = field(
        default_factory=lambda: {
            **_COMMON,
            "files": "only the system's programs and the copy of the skill can be read, and one folder written",
            "network": "no internet socket can be made, and no unix socket of the machine reached",
            "processes": "no more can be started than the limit; no signal leaves the sandbox",
            "environment": "empty",
        },
        hash=False,
    )
    not_held: Mapping[str, str] = field(
        default_factory=lambda: {
            "processor": "a run may use every core until its time is over",
            "unix sockets": "a script can make sockets and speak with itself, nobody else",
            "names": "that a file elsewhere exists, and how large it is, can be asked; not its content",
        },
        hash=False,
    )

    def problem(self) -> str | None:
        """Why it cannot run on this machine, with the words that install it; None where it can."""
        if importlib.util.find_spec("sandlock") is None:
            return "sandlock is not installed: `pip install sandlock`; it needs Linux 6.7 or newer"
        import sandlock

        have, need = sandlock.landlock_abi_version(), sandlock.min_landlock_abi()
        return None if have >= need else f"sandlock needs Landlock {need}, this kernel has {have}; use a newer kernel"

    def command(self, stage: Stage, argv: Sequence[str], readable: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """The command that runs `argv` in the folder to write into, with the paths as the machine has them."""
        places = [place for place in (*_SYSTEM, *readable, "/dev/null", "/dev/urandom") if Path(place).exists()]
        work = str(stage.work)
        policy = {
            "fs_readable": [*places, str(stage.skill)],
            "fs_writable": [work],
            "clean_env": True,
            "env": {**ENVIRONMENT, "HOME": work, "TMPDIR": work},
            "max_memory": limits.memory,
            "max_processes": limits.processes,
            "no_coredump": True,
            "cwd": work,
        }
        child = str(Path(__file__).with_name("sandlock_child.py"))
        return (
            *("/bin/sh", "-c", f'{_ulimits(limits)} exec "$@"', "sh"),
            *(sys.executable, "-I", child, json.dumps(policy), *argv),
        )


@dataclass(frozen=True, slots=True)
class Unsafe:
    """A plain process with the rights of the engine: for scripts that you wrote yourself."""

    name: str = "unsafe"
    own_processes: int = 0
    held: Mapping[str, str] = field(default_factory=lambda: {**_COMMON, "environment": "empty"}, hash=False)
    not_held: Mapping[str, str] = field(
        default_factory=lambda: {
            "files": "every file that the engine may read or write",
            "network": "every connection",
            "processes": "one that leaves its session is not found again",
        },
        hash=False,
    )

    def problem(self) -> str | None:
        """Runs everywhere."""
        return None

    def command(self, stage: Stage, argv: Sequence[str], readable: Sequence[str], limits: Limits) -> tuple[str, ...]:
        """The command itself, with an empty environment."""
        del readable
        work = str(stage.work)
        environment = {**ENVIRONMENT, "HOME": work, "TMPDIR": work}
        given = [f"{name}={value}" for name, value in environment.items()]
        return ("/bin/sh", "-c", f'{_ulimits(limits)} cd "$0"; exec "$@"', work, "/usr/bin/env", "-i", *given, *argv)


RUNNERS: Mapping[str, Runner] = {"bubblewrap": Bubblewrap(), "sandlock": Sandlock(), "unsafe": Unsafe()}
"""Every runner by its name, the one that is preferred first."""


def runner_of(name: str = "sandbox") -> Runner:
    """Returns the runner of that name; `sandbox` is the first that holds here, never `unsafe`.

    Raises ScriptRefused with the words that install one, and InvalidValue for a name that is none.
    """
    if name == "sandbox":
        safe = [one for one in RUNNERS.values() if one.name != "unsafe"]
        problems = {one.name: one.problem() for one in safe}
        working = next((one for one in safe if problems[one.name] is None), None)
        if working is None:
            raise ScriptRefused("no sandbox for scripts is here. " + ". ".join(map(str, problems.values())))
        return working
    if name not in RUNNERS:
        raise InvalidValue(f"there is no runner {name[:60]!r}; use one of sandbox, {', '.join(RUNNERS)}")
    problem = RUNNERS[name].problem()
    if problem is not None:
        raise ScriptRefused(problem)
    return RUNNERS[name]
