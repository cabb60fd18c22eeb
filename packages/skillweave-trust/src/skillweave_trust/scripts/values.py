"""What a run of a script is asked for, what bounds it, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skillweave.errors import InvalidValue
from skillweave.manifest import ManifestFile
from skillweave.values import Portable

__all__ = ["Ended", "Limits", "ScriptAnswer", "ScriptRefused", "check_arguments"]

_MOST_ARGUMENTS, _LONGEST_ARGUMENT = 64, 4096


class ScriptRefused(InvalidValue):
    """A script that is not run; the text names it, the rule that it breaks, and the remedy."""


class Ended(StrEnum):
    """How a run came to its end: by itself, or by the limit that it broke."""

    BY_ITSELF = "by-itself"
    TIME = "time"
    MEMORY = "memory"
    PROCESSES = "processes"
    OUTPUT = "output"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Limits(Portable):
    """What a run may use: seconds, bytes of resident memory and processes of the whole tree, output, written files."""

    seconds: float = 30.0
    memory: int = 512 * 1024 * 1024
    processes: int = 16
    output: int = 64 * 1024
    written: int = 16 * 1024 * 1024
    files: int = 1000

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "processes", "output", "written", "files"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**53:
                raise InvalidValue(f"the limit {name} is {value!r}; give a number above 0")


@dataclass(frozen=True, slots=True)
class ScriptAnswer(Portable):
    """What a run gave: its output, how it ended, and which barriers held.

    `held` says by what each of files, network, memory, time, processes, output and written files was bounded;
    `not_held` says what the runner cannot bound. `exit_code` is None where a limit ended the run.
    """

    runner: str
    ended: Ended
    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float
    written: tuple[ManifestFile, ...] = ()
    held: Mapping[str, str] = field(default_factory=dict, hash=False)
    not_held: Mapping[str, str] = field(default_factory=dict, hash=False)


def check_arguments(arguments: object) -> tuple[str, ...]:
    """Returns the arguments of a script. Raises ScriptRefused for what is no short list of texts."""
    if isinstance(arguments, str) or not isinstance(arguments, list | tuple):
        raise ScriptRefused(f"arguments are {type(arguments).__name__}; give a list of texts, one for each argument")
    if len(arguments) > _MOST_ARGUMENTS:
        raise ScriptRefused(f"there are {len(arguments)} arguments; a script takes at most {_MOST_ARGUMENTS}")
    for place, one in enumerate(arguments, 1):
        if not isinstance(one, str):
            raise ScriptRefused(f"argument {place} is {type(one).__name__}, not a text; write it as a text")
        if len(one) > _LONGEST_ARGUMENT or "\0" in one:
            raise ScriptRefused(f"argument {place} has a NUL or over {_LONGEST_ARGUMENT} characters; make it shorter")
    return tuple(arguments)
