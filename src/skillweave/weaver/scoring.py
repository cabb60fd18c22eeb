"""The scores that a move needs, fetched before the pure core decides it (spec 3.4)."""

import asyncio
import logging
from dataclasses import replace

from skillweave.conversation import Turn
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.graph.advance import at
from skillweave.graph.compiled import needs_scoring
from skillweave.graph.scoring import EntryScoring
from skillweave.ledger.state import State
from skillweave.plan import Wiring
from skillweave.plan.position import moment_of

log = logging.getLogger("skillweave")


async def scoring_for(
    wiring: Wiring, state: State, turn: Turn, seconds: float
) -> tuple[EntryScoring | None, tuple[Diagnostic, ...]]:
    """What the graph's scorer says to the turn; None where nothing that it could say would count now.

    A scorer that fails, or takes more than `seconds`, chooses nothing, and a finding says so.
    """
    graph = wiring.graph
    if not wiring.compiled.has_scorer:
        return None, ()
    from skillweave.graph.scored import ScoredGraph

    context = at(state.cursor, moment_of(wiring, state, turn), wiring.compiled)
    if not isinstance(graph, ScoredGraph) or context.between or not needs_scoring(wiring.compiled, context):
        return None, ()
    try:
        async with asyncio.timeout(seconds):
            return await graph.score_entries(replace(context, picks=())), ()
    except TimeoutError:
        return None, (_not_scored(f"it took more than {seconds:g} s"),)
    except Exception as error:  # a scorer is the host's own code, and a turn does not end for it
        log.warning("the entries of the skill graph were not scored", exc_info=True)
        return None, (_not_scored(f"{type(error).__name__}: {error}"),)


def _not_scored(why: str) -> Diagnostic:
    return Diagnostic(
        code="entries-not-scored",
        severity=Severity.WARNING,
        message=f"the scorer of the skill graph gave no answer, so that it chose no entry: {why}",
        fix="see to the scorer or its embedder; the conversation begins when it answers or the model picks an entry",
    )
