"""A played script as people read it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillweave.cli.output.page import Ink, Page
from skillweave.cli.output.words import counted

if TYPE_CHECKING:
    from skillweave.graph.simulate import Expect, Simulated, Simulation, Step

_LONGEST = 60


def played_text(simulation: "Simulation", page: Page) -> str:
    """Each step with where it led, whether that was expected, and the counts."""
    lines = [line for number, step in enumerate(simulation, start=1) for line in _lines(number, step, page)]
    return "\n".join([*lines, *([""] if lines else []), _summary(simulation)])


def _lines(number: int, simulated: "Simulated", page: Page) -> Iterator[str]:
    move = simulated.move
    yield page.entry(f"{number}", " and ".join(_happenings(simulated.step)) or "another call of the model", Ink.STRONG)
    if simulated.leaf is None:
        yield page.entry("", f"-> {move.to or 'nowhere yet'}, by {move.by.value}: {move.reason}")
    else:
        yield page.entry("", f"-> {simulated.leaf}")
    if simulated.expect is not None:
        wanted = _expected(simulated.expect)
        if simulated.held:
            yield page.entry("  as expected", wanted, Ink.GOOD)
        else:
            yield page.entry("  not as expected", wanted, Ink.BAD)


def _happenings(step: "Step") -> Iterator[str]:
    if step.user is not None:
        yield f"user says {_short(step.user)!r}"
    for result in step.tools:
        yield f"{result.tool} answers {_short(result.content)!r} ({result.status})"
    for pick in step.picks:
        yield f"model picks {pick}"


def _expected(expect: "Expect") -> str:
    to = "" if expect.any_to else expect.to or "nowhere"
    by = "" if expect.by is None else f"by {expect.by.value}"
    return " ".join(filter(None, (to, by)))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def _summary(simulation: "Simulation") -> str:
    held = [step.held for step in simulation if step.held is not None]
    if not held:
        return f"{counted(len(simulation.steps), 'step')}, nothing was expected."
    failed = held.count(False)
    verdict = f"{failed:,} not as expected" if failed else "all as expected"
    return f"{counted(len(simulation.steps), 'step')}, {counted(len(held), 'expectation')}: {verdict}."
