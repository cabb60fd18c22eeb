"""How the parts of a graph are called in findings: short and on one line, whatever their names contain."""

from collections.abc import Iterable, Sequence

from skillweave.errors import nearest_names
from skillweave.graph.checkup.parts import OnTool, Part
from skillweave.graph.conditions import AtIteration, HistoryMin, Intent
from skillweave.graph.declared import ANY, Route
from skillweave.graph.guards import FieldTest

_LONGEST = 80
_MOST_NAMED = 5
_MOST_GUESSES = 20


def named(text: str) -> str:
    """The text between backticks, printable and short."""
    cut = text[:_LONGEST]
    if not cut.isprintable():
        cut = "".join(letter if letter.isprintable() else "�" for letter in cut)
    return f"`{cut}…`" if len(text) > _LONGEST else f"`{cut}`"


def several(texts: Sequence[str]) -> str:
    """The first few of them between backticks, and how many more there are."""
    shown = list(map(named, texts[:_MOST_NAMED]))
    if len(texts) > _MOST_NAMED:
        return f"{', '.join(shown)} and {len(texts) - _MOST_NAMED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else "nothing"


def way(route: Route) -> str:
    """The route by its ends, and its label where it has one."""
    from_ = "any skill" if route.from_ == ANY else named(route.from_)
    label = f" ({named(route.label)})" if route.label else ""
    return f"the route from {from_} to {named(route.to)}{label}"


def opening(words: str) -> str:
    """The words as a sentence begins."""
    return words[:1].upper() + words[1:]


def said(part: Part) -> str:
    """A part of a condition as it was declared, on one line."""
    try:
        text = _said(part)
    except ValueError:  # Python refuses to write out a number of thousands of digits
        text = "a comparison with a very long number"
    return named(" ".join(text.split()))


def _said(part: Part) -> str:
    match part:
        case FieldTest():
            return str(part)
        case OnTool(regex):
            return f"on_tool /{regex.source}/"
        case HistoryMin(messages):
            return f"history_min {messages}"
        case AtIteration(iteration):
            return f"iteration {iteration}"
        case Intent(intent):
            return f"intent {intent}"
        case _:
            return type(part).__name__.lower()


class Guesses:
    """What misspelled names may mean, each looked up once; after many different ones no more, as it takes a while."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str] = {}

    def of(self, name: str, known: Iterable[str], among: str = "") -> str | None:
        """The known name that is nearest, None for none; `among` tells one set of known names from another."""
        key = (among, name)
        if key not in self._found:
            if len(self._found) >= _MOST_GUESSES:
                return None
            self._found[key] = next(iter(nearest_names(name, known)), "")
        return self._found[key] or None
