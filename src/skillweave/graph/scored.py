"""A graph whose entry is chosen by a scorer."""

from collections.abc import Mapping

from skillweave.graph.context import MoveContext
from skillweave.graph.entry_scoring import score_entries
from skillweave.graph.graph import SkillGraph, read
from skillweave.graph.scoring import EntryScoring


class ScoredGraph(SkillGraph):
    """A SkillGraph that can score: only graphs built with a scorer are of this kind."""

    async def score_entries(self, context: MoveContext | Mapping[str, object]) -> EntryScoring:
        """What the scorer says to the user's words; hand it to `explain`, `next_skill` or `advance`.

        Raises what the scorer raises; the cancellation of the task is never taken for a failure.
        """
        return await score_entries(self.compiled, read(context))
