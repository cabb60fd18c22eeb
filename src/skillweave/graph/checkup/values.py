"""Sets of JSON values, so that comparisons can be proved to exclude or to imply each other."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite
from typing import TypeAlias

from skillweave.graph.guards import LISTED, ORDERED, FieldTest, Op, Scalar, Scales

Point: TypeAlias = tuple[str, Scalar]
"""One value with its type, since true and 1 are equal in Python and no equals in a guard."""

_LOWEST = (-inf, 1)
_HIGHEST = (inf, -1)


@dataclass(frozen=True, slots=True)
class Words:
    """A set of texts: the listed ones, or, where `outside` is true, all texts but these."""

    listed: frozenset[str] = frozenset()
    outside: bool = False

    def meet(self, other: "Words") -> "Words":
        """The texts that are in both."""
        match self.outside, other.outside:
            case False, False:
                return Words(self.listed & other.listed)
            case False, True:
                return Words(self.listed - other.listed)
            case True, False:
                return Words(other.listed - self.listed)
            case _:
                return Words(self.listed | other.listed, outside=True)

    def within(self, other: "Words") -> bool:
        """Whether all of them are in the other."""
        if self.outside:
            return other.outside and other.listed <= self.listed
        return self.listed.isdisjoint(other.listed) if other.outside else self.listed <= other.listed

    @property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return not self.outside and not self.listed


@dataclass(frozen=True, slots=True)
class Numbers:
    """A set of finite numbers: `only` these, or those between two bounds without `but`; made by `numbers()`.

    A bound is a number and whether it is left out itself: 1 at the low end, -1 at the high one, else 0.
    """

    low: tuple[float, int] = _LOWEST
    high: tuple[float, int] = _HIGHEST
    but: frozenset[float] = frozenset()
    only: frozenset[float] | None = None
    whole: bool = False

    def has(self, number: float) -> bool:
        """Whether the number is one of them."""
        if self.only is not None:
            return number in self.only
        fits = self.low <= (number, 0) <= self.high and number not in self.but
        return fits and not (self.whole and number != floor(number))

    def meet(self, other: "Numbers") -> "Numbers":
        """The numbers that are in both."""
        if self.only is not None:
            return Numbers(only=frozenset(filter(other.has, self.only)))
        if other.only is not None:
            return Numbers(only=frozenset(filter(self.has, other.only)))
        low, high = max(self.low, other.low), min(self.high, other.high)
        return numbers(low, high, self.but | other.but, whole=self.whole or other.whole)

    def within(self, other: "Numbers") -> bool:
        """Whether all of them are surely in the other."""
        if self.only is not None:
            return all(map(other.has, self.only))
        if other.only is not None or (other.whole and not self.whole):
            return False
        return other.low <= self.low and self.high <= other.high and not any(map(self.has, other.but))

    @property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return self.only is not None and not self.only


NO_NUMBERS = Numbers(only=frozenset())


def numbers(
    low: tuple[float, int] = _LOWEST,
    high: tuple[float, int] = _HIGHEST,
    but: Collection[float] = (),
    *,
    whole: bool = False,
) -> Numbers:
    """The finite numbers between the bounds, without those in `but`; with `whole`, whole numbers only."""
    holes = set(but)
    if whole:
        low, high = _whole_low(low), _whole_high(high)
    while low[0] in holes or high[0] in holes:
        if low[0] in holes:
            holes.discard(low[0])
            low = (low[0] + 1, 0) if whole else (low[0], 1)
        if high[0] in holes:
            holes.discard(high[0])
            high = (high[0] - 1, 0) if whole else (high[0], -1)
    if low > high:
        return NO_NUMBERS
    if low[0] == high[0]:
        return Numbers(only=frozenset((low[0],)))
    return Numbers(low, high, frozenset(hole for hole in holes if low[0] < hole < high[0]), whole=whole)


@dataclass(frozen=True, slots=True)
class Values:
    """A set of JSON values, type by type: texts, numbers, booleans, null; never lists or objects."""

    texts: Words = Words()
    numbers: Numbers = NO_NUMBERS
    booleans: frozenset[bool] = frozenset()
    null: bool = False

    def meet(self, other: "Values") -> "Values":
        """The values that are in both."""
        return Values(
            self.texts.meet(other.texts),
            self.numbers.meet(other.numbers),
            self.booleans & other.booleans,
            self.null and other.null,
        )

    def overlaps(self, other: "Values") -> bool:
        """Whether a value may be in both."""
        if not self.texts.meet(other.texts).is_empty:
            return True
        if (self.null and other.null) or self.booleans & other.booleans:
            return True
        return not (self.numbers.is_empty or other.numbers.is_empty or self.numbers.meet(other.numbers).is_empty)

    def within(self, other: "Values") -> bool:
        """Whether all of them are surely in the other."""
        return (
            self.texts.within(other.texts)
            and self.numbers.within(other.numbers)
            and self.booleans <= other.booleans
            and self.null <= other.null
        )

    @property
    def is_empty(self) -> bool:
        """Whether no value is left."""
        return self.texts.is_empty and self.numbers.is_empty and not self.booleans and not self.null

    @property
    def points(self) -> tuple[Point, ...] | None:
        """The values one by one, None where they cannot be listed."""
        if self.texts.outside or self.numbers.only is None:
            return None
        found: list[Point] = [("text", word) for word in self.texts.listed]
        found += (("number", number) for number in self.numbers.only)
        found += (("boolean", boolean) for boolean in self.booleans)
        return (*found, ("null", None)) if self.null else tuple(found)


NOTHING = Values()
ANY_TEXT = Values(Words(outside=True))


def listed(values: Iterable[Scalar]) -> Values:
    """Exactly these values, as far as a field can have them."""
    given = list(values)
    texts = frozenset(value for value in given if isinstance(value, str))
    if len(texts) == len(given):
        return Values(Words(texts))
    return Values(
        Words(texts),
        Numbers(only=frozenset(_finite(given))),
        frozenset(value for value in given if isinstance(value, bool)),
        None in given,
    )


def compared(test: FieldTest, scales: Scales) -> Values | None:
    """The values for which `holds` says yes; None where the value does not fit the operator."""
    if isinstance(test.value, tuple):
        if test.op not in LISTED:
            return None
        return listed(test.value) if test.op is Op.IN else _but(test.value)
    if test.op in LISTED:
        return None
    if test.op in ORDERED:
        return _ordered(test, test.value, scales)
    return listed((test.value,)) if test.op is Op.EQ else _but((test.value,))


def _but(values: Iterable[Scalar]) -> Values:
    """All values of the types that are named, but not the named ones."""
    given = list(values)
    texts = frozenset(value for value in given if isinstance(value, str))
    booleans = frozenset(value for value in given if isinstance(value, bool))
    has_numbers = any(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
    return Values(
        Words(texts, outside=bool(texts)),
        numbers(but=frozenset(_finite(given))) if has_numbers else NO_NUMBERS,
        frozenset((True, False)) - booleans if booleans else frozenset(),
    )


def _ordered(test: FieldTest, value: Scalar, scales: Scales) -> Values:
    if isinstance(value, str):
        return Values(Words(frozenset(_beside(test.op, value, scales.get(test.field, ())))))
    if value is None or isinstance(value, bool) or value != value:  # the last is true of NaN alone
        return NOTHING
    match test.op:
        case Op.GT:
            return Values(numbers=numbers(low=(value, 1)))
        case Op.GTE:
            return Values(numbers=numbers(low=max((value, 0), _LOWEST)))
        case Op.LT:
            return Values(numbers=numbers(high=(value, -1)))
        case _:
            return Values(numbers=numbers(high=min((value, 0), _HIGHEST)))


def _beside(op: Op, word: str, ranks: Sequence[str]) -> Sequence[str]:
    """The words of a scale that stand on that side of the word."""
    if word not in ranks:
        return ()
    rank = ranks.index(word)
    match op:
        case Op.GT:
            return ranks[rank + 1 :]
        case Op.GTE:
            return ranks[rank:]
        case Op.LT:
            return ranks[:rank]
        case _:
            return ranks[: rank + 1]


def _finite(values: Iterable[Scalar]) -> Iterator[float]:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if isinstance(value, int) or isfinite(value):
            yield value


def _whole_low(low: tuple[float, int]) -> tuple[float, int]:
    bound, open_ = low
    if bound in (-inf, inf):
        return low
    first = ceil(bound)
    return (first + 1 if open_ and first == bound else first, 0)


def _whole_high(high: tuple[float, int]) -> tuple[float, int]:
    bound, open_ = high
    if bound in (-inf, inf):
        return high
    last = floor(bound)
    return (last - 1 if open_ and last == bound else last, 0)
