"""Sets of JSON values, so that comparisons can be proved to exclude or to imply each other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from skillweave.graph.guards import LISTED, ORDERED, FieldTest, Op, Scalar, Scales, holds, type_name

Point: TypeAlias = tuple[str, Scalar]
"""One value with its type, since true and 1 are equal in Python and no equals in a guard."""

_TEXT, _NUMBER = type_name(""), type_name(0)
_FEW: tuple[Point, ...] = tuple((type_name(value), value) for value in (True, False, None))
"""All values of the types that have few."""
_ENDLESS = (float("inf"), -float("inf"))


@dataclass(frozen=True, slots=True)
class Values:
    """A set of JSON values: the `listed` ones, or else all of the `kinds` but some, within numeric comparisons."""

    listed: frozenset[Point] | None = None
    kinds: frozenset[str] = frozenset((_TEXT, _NUMBER))
    but: frozenset[Point] = frozenset()
    bounds: frozenset[FieldTest] = frozenset()

    def has(self, point: Point) -> bool:
        """Returns whether the value is one of them."""
        if self.listed is not None:
            return point in self.listed
        kind, value = point
        return kind in self.kinds and point not in self.but and all(holds(test, value, {}) for test in self.bounds)

    def meet(self, other: "Values") -> "Values":
        """Returns the values that are in both."""
        for one, two in ((self, other), (other, self)):
            if one.listed is not None:
                return Values(frozenset(filter(two.has, one.listed)))
        return Values(None, self.kinds & other.kinds, self.but | other.but, self.bounds | other.bounds)

    def overlaps(self, other: "Values") -> bool:
        """Returns whether a value is in both."""
        if self.listed is not None and other.listed is not None:
            return not self.listed.isdisjoint(other.listed)
        return not self.meet(other).is_empty

    def within(self, other: "Values") -> bool:
        """Returns whether all of them are in the other."""
        return all(map(other.has, self._samples(other)))

    @property
    def is_empty(self) -> bool:
        """Returns whether no value is left."""
        return next(self._samples(self), None) is None

    def _samples(self, other: "Values") -> Iterator[Point]:
        """Yields one value of every part of this set that either set treats differently."""
        if self.listed is not None:
            return iter(self.listed)
        named = {*self.named(), *other.named()}
        return filter(self.has, (*named, *_unnamed(named)))

    def named(self) -> Iterator[Point]:
        """Yields the values that tell the set from another one."""
        yield from self.but if self.listed is None else self.listed
        yield from ((_NUMBER, test.value) for test in self.bounds if not isinstance(test.value, tuple))


def values_of(test: FieldTest) -> tuple[Scalar, ...]:
    """Returns the value or values that the comparison names."""
    return test.value if isinstance(test.value, tuple) else (test.value,)


def listed(values: Iterable[Scalar]) -> Values:
    """Returns exactly these values."""
    return Values(frozenset((type_name(value), value) for value in values))


def compared(test: FieldTest, scales: Scales) -> Values | None:
    """Returns the values for which `holds` says yes; None if the value does not fit the operator."""
    if isinstance(test.value, tuple) is not (test.op in LISTED):
        return None
    values = values_of(test)
    points = frozenset((type_name(value), value) for value in values if value not in _ENDLESS and value == value)
    kinds = frozenset(kind for kind, _ in points)
    if test.op in ORDERED:
        if kinds == {_NUMBER}:
            return Values(kinds=kinds, bounds=frozenset((test,)))
        values = scales.get(test.field, ())
    elif test.op in (Op.NE, Op.NOT_IN):
        return Values(kinds=kinds, but=points)
    return listed(value for value in values if holds(test, value, scales))


def _unnamed(named: Iterable[Point]) -> Iterator[Point]:
    """Yields values of every kind: a text, and numbers below, between and above the named ones."""
    yield from _FEW
    texts = [value for _, value in named if isinstance(value, str)]
    yield _TEXT, "\0" * (1 + max(map(len, texts), default=0))
    found = (value for kind, value in named if kind == _NUMBER and isinstance(value, int | float))
    numbers = sorted({number for number in found if number == number and number not in _ENDLESS})
    if not numbers:
        yield _NUMBER, 0
        return
    yield from ((_NUMBER, int(numbers[0]) - 1), (_NUMBER, int(numbers[-1]) + 1))
    yield from ((_NUMBER, _between(low, high)) for low, high in pairwise(numbers))


def _between(low: float, high: float) -> float:
    """Returns a number between the two, or one of them if JSON has none between."""
    middle = (int(low) + int(high)) // 2
    if low < middle < high:
        return middle
    try:
        return low / 2 + high / 2
    except OverflowError:
        return low
