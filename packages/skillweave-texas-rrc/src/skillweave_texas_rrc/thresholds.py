"""The figures and rules of this pack as data (`thresholds.yaml`), and how an answer tells which of them it used."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, cast

from skillweave.errors import InvalidData
from skillweave.values import Checked, Json, Portable, has_errors, read_yaml, resolved

FILE = "thresholds.yaml"
GIVEN = "given by the caller"
"""The citation of a figure that the caller put in the place of the pack's own."""


@dataclass(frozen=True, slots=True)
class Threshold(Portable):
    """A figure or a rule with its citation; `value` is in `unit`, and None where the rule is no number.

    `verified` is False for what nobody has read in its source yet, `given` True for what the caller gave instead.
    """

    id: str
    says: str
    cite: str
    verified: bool
    value: float | None = None
    unit: str = ""
    given: bool = False

    def __post_init__(self) -> None:
        checked = Checked(f"threshold {self.id!r}")
        for name in ("says", "cite", "unit"):
            checked.text(name, getattr(self, name))
        checked.truth("verified", self.verified)
        if self.value is not None:
            checked.number("value", self.value)

    @property
    def number(self) -> float:
        """The value; raises InvalidData for a rule without one."""
        if self.value is None:
            raise InvalidData(f"threshold {self.id!r} has no value; write `value:` in its file", place=self.id)
        return self.value

    def overridden(self, value: float | None) -> "Threshold":
        """The same with the caller's value, which nobody verified; itself for None."""
        return self if value is None else replace(self, value=value, cite=GIVEN, verified=False, given=True)


@cache
def thresholds(file: str = FILE) -> Mapping[str, Threshold]:
    """All thresholds of a file of this pack by their id, read once. Raises InvalidData for a file that was broken."""
    document = read_yaml(files(__package__).joinpath(file).read_text(encoding="utf-8"), path=file)
    if document.data is None or has_errors(document.diagnostics):
        raise InvalidData(f"{file} cannot be read: {'; '.join(map(str, document.diagnostics))}")
    rows = cast("Mapping[str, Mapping[str, Any]]", resolved(document.data["thresholds"]))
    return MappingProxyType({name: Threshold(name, **row) for name, row in rows.items()})


def basis_of(used: Iterable[Threshold]) -> list[Json]:
    """The `basis` of an answer, in the order in which they were used."""
    return [cast("Json", one.to_dict()) for one in used]


def to_confirm(used: Iterable[Threshold]) -> list[Json]:
    """A warning for each that is not verified."""
    return [
        f"Confirm before this is stated in a filing, as it is not verified: {one.says} ({one.cite})"
        for one in used
        if not one.verified
    ]
