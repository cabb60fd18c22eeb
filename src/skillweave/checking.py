"""What callers hand in, checked where it enters: one line with the field, what came, and what is wanted."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, NoReturn, TypeVar

from skillweave.errors import InvalidValue
from skillweave.redaction import without_secrets

E = TypeVar("E", bound=Enum)
T = TypeVar("T")

_SHOWN = 60


class Checked:
    """The fields of one value that a caller gives, each read as it is wanted.

    `where` is how the caller wrote it, such as `Turn` or `skillweave.open`; `error` is what is raised for a field that
    cannot be read. A list may be any iterable but a text, as a text where a list is meant would be taken letter by
    letter; the text of an enum's member is that member.
    """

    __slots__ = ("_error", "_where")

    def __init__(self, where: str, error: Callable[[str], Exception] = InvalidValue) -> None:
        self._where = where
        self._error = error

    def refuse(self, name: str, value: object, wanted: str) -> NoReturn:
        """Raise the error for a field that is not as it is `wanted`, in words that follow "give"."""
        raise self._error(f"{self._where}({name}=...) is {shown(value)}; give {wanted}")

    def text(self, name: str, value: object) -> str:
        """The text."""
        return value if isinstance(value, str) else self.refuse(name, value, "a text")

    def texts(self, name: str, value: object, example: str = "name") -> tuple[str, ...]:
        """The texts of a list, as a tuple; those of a set in their order, so that nothing depends on the hash seed."""
        several = self.listed(name, value, f"texts, such as [{example!r}]")
        for position, one in enumerate(several):
            if not isinstance(one, str):
                self.refuse(f"{name}[{position}]", one, "a text")
        return tuple(sorted(several)) if isinstance(value, set | frozenset) else several

    def listed(self, name: str, value: object, wanted: str) -> tuple[Any, ...]:
        """The members of a list, whatever they are, as a tuple."""
        if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable):
            self.refuse(name, value, f"a list of {wanted}")
        return tuple(value)

    def items(self, name: str, value: object, kind: type[T], wanted: str) -> tuple[T, ...]:
        """The members of a list of one kind, as a tuple."""
        several = self.listed(name, value, wanted)
        for position, one in enumerate(several):
            if not isinstance(one, kind):
                self.refuse(f"{name}[{position}]", one, wanted)
        return several

    def kind(self, name: str, value: object, kind: type[T], wanted: str) -> T:
        """The value itself, when it is of that kind."""
        return value if isinstance(value, kind) else self.refuse(name, value, wanted)

    def whole(self, name: str, value: object, least: int = 0) -> int:
        """The whole number, which must not be below `least`."""
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.refuse(name, value, f"a whole number from {least} on")
        return value

    def number(self, name: str, value: object, least: float = 0, most: float | None = None) -> float:
        """The number, which must be in the range."""
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not (least <= value and (most is None or value <= most))
        ):
            self.refuse(name, value, f"a number from {least:g} {'on' if most is None else f'to {most:g}'}")
        return value

    def truth(self, name: str, value: object) -> bool:
        """True or False; nothing else counts as one of them."""
        return value if isinstance(value, bool) else self.refuse(name, value, "True or False")

    def member(self, name: str, value: object, kind: type[E]) -> E:
        """The member of the enum, also for its text."""
        if isinstance(value, kind):
            return value
        try:
            return kind(value)
        except ValueError:
            choices = ", ".join(repr(one.value) for one in kind)
            self.refuse(name, value, f"one of {choices}")

    def mapping(self, name: str, value: object) -> Mapping[str, Any]:
        """The mapping, whose keys must be texts."""
        if not isinstance(value, Mapping):
            self.refuse(name, value, "a mapping with texts as keys")
        for key in value:
            if not isinstance(key, str):
                self.refuse(f"{name}[{shown(key)}]", key, "a text as key")
        return value


def most(number: int) -> Mapping[str, int]:
    """The metadata of a dataclass's field that says how many members its value may have; schemas say it too."""
    return {"most": number}


def require_few(value: Any, error: Callable[[str], Exception], inner: Any = None) -> None:  # noqa: ANN401 - any dataclass
    """Raises the error for a field with more members than it may have; `inner` is a field whose own are looked at too.

    So no list costs more than it should.
    """
    for holder in (value, inner) if inner is not None else (value,):
        for name, limit in _limits_of(holder.__class__):
            found = getattr(holder, name)
            if found is not None and len(found) > limit:
                where = f"{type(holder).__name__}({name}=...)"
                raise error(f"{where} has {len(found):,} members; give at most {limit:,}")


@cache
def _limits_of(cls: Any) -> tuple[tuple[str, int], ...]:  # noqa: ANN401 - the class of any dataclass
    return tuple((one.name, one.metadata["most"]) for one in fields(cls) if "most" in one.metadata)


def shown(value: object) -> str:
    """A value in an error: what it is, and itself where it is short and plain; never more than a line."""
    if value is None or isinstance(value, bool):
        return repr(value)
    kind = f"the class {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"
    if isinstance(value, str | int | float):
        text = repr(value if not isinstance(value, str) else without_secrets(value)[:_SHOWN])[:_SHOWN]
        return f"{text} ({kind})" if not isinstance(value, str) else f"the text {text}"
    return kind
