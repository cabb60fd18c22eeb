"""Extensions: what is built in stands in a table, what other packages bring is found by entry point."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skillweave.distributions import ENGINE, MissingDistribution
from skillweave.errors import SkillweaveError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

T = TypeVar("T")
R = TypeVar("R")

PREFIX = "skillweave."
"""What the names of our entry point groups begin with."""
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Extensions(Generic[T]):
    """One kind of extension, such as ledgers: its entry points are in the group `skillweave.{group}` and refer to a T.

    `built_in` is the table of our own, name to `module:attribute`, which no package can shadow. `noun` and `form` are
    how a message names one (`{}://` where a name is the scheme of a URL), `choice` how it begins the list of those that
    there are, and `instead` what else one may do, a clause or nothing. `satellites` says which of our own distributions
    brings a name.
    """

    group: str
    noun: str
    form: str = "{!r}"
    choice: str = "use one of"
    instead: str = ""
    built_in: Mapping[str, str] = field(default_factory=dict)
    satellites: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """Returns the names of all that are built in or installed, sorted."""
        return tuple(sorted({*self.built_in, *self._entries().names}))

    def load(self, name: str) -> T:
        """What the entry point of that name refers to.

        Raises SkillweaveError when no installed package brings it, and when its package cannot be loaded.
        """
        return self.make(name, lambda found: found)

    def make(self, name: str, call: Callable[[T], R]) -> R:
        """What `call` gives for that to which the entry point of that name refers.

        Raises SkillweaveError when no installed package brings it, when its package cannot be loaded, and when the
        call fails, with the reason.
        """
        entry = None
        if name not in self.built_in:
            known = self._entries()
            if name not in known.names and name in self.satellites:
                raise MissingDistribution(f"the {self._called(name)}", self.satellites[name])
            if name not in known.names:
                raise SkillweaveError(self._unknown(name))
            entry = known[name]
        try:
            if entry is not None:
                return call(entry.load())
            return call(resolve_name(self.built_in[name]))
        except SkillweaveError:
            raise
        except Exception as error:
            # The code of a guest runs here, which can raise anything; a package that our own needs may be broken.
            package = ENGINE if entry is None else entry.value if entry.dist is None else entry.dist.name
            why = error if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
            message = f"{self._called(name)} cannot be loaded ({why}); reinstall the package {package}"
            raise SkillweaveError(message) from error

    def _entries(self) -> "EntryPoints":
        return _installed(PREFIX + self.group, tuple((folder, _changed_at(folder)) for folder in sys.path))

    def _unknown(self, name: str) -> str:
        known = self.names()
        ways = [f"{self.choice} {', '.join(known)}"] if known else []
        ways += ["install the package that brings it", *([self.instead] if self.instead else [])]
        *first, last = ways
        listed = f"{', '.join(first)}, or {last}" if first else last
        return f"no {self._called(name)} is installed; {listed}"

    def _called(self, name: str) -> str:
        return f"{self.noun} {self.form.format(name[:_LONGEST_NAME])}"


TENANT, KEY = "skillweave.tenant", "skillweave.key"
"""Where the scope of a request to a mount says whose it is, and the id of its key; empty in an open service."""


@dataclass(frozen=True, slots=True)
class Mount:
    """An ASGI application that `skillweave serve` answers with at `path`; `running` is entered while it serves.

    It is reached by whoever has a key that may run turns, and finds TENANT and KEY in the scope of each request.
    """

    path: str
    app: Callable[[Any, Any, Any], Awaitable[None]]
    running: Callable[[], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command or a group of commands: what `--help` says of it before its module is imported.

    `module` has a function of the command's name (or with `_` behind it), and EXAMPLES by name; of a group it has a
    function for each example, and may have GROUP, settings for typer. `prints` names the classes of what `--json`
    prints as `module:Class`, several with blanks between them; of a group it has them by the name inside the group.
    """

    promise: str
    module: str
    prints: str | Mapping[str, str] = field(hash=False)

    @property
    def is_group(self) -> bool:
        """Whether other commands stand below it."""
        return not isinstance(self.prints, str)


@lru_cache(64)
def _installed(group: str, _folders: tuple[tuple[str, int], ...]) -> "EntryPoints":
    """The entry points of a group; read anew, from every installed package, only after one was added or removed."""
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _changed_at(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except (OSError, ValueError):
        # As importlib does, which has nothing from there either.
        return 0
