"""What of a turn's decisions is new: a skill that stands as it stood in the turn before is not logged again."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TypeAlias

from skillweave.decisions import Decision

REMEMBERED_CONVERSATIONS = 1_000
"""Of so many conversations this process remembers what it logged last; of others everything is logged once more."""

_Said: TypeAlias = Mapping[str, tuple[Decision, ...]]


class News:
    """What was logged last of each conversation, and at which revision of it; safe between threads."""

    def __init__(self, *, remember: int = REMEMBERED_CONVERSATIONS) -> None:
        self._remember = remember
        self._last: OrderedDict[tuple[str, str], tuple[int, _Said]] = OrderedDict()
        self._lock = Lock()

    def of(self, tenant: str, conversation: str, revision: int, decisions: Sequence[Decision]) -> tuple[Decision, ...]:
        """The decisions that are to be kept: what was matched in this turn, and what else is not as it was last.

        `revision` is that of the State that the turn began with. Where somebody else has stored one since, all are.
        """
        with self._lock:
            known, said = self._last.get((tenant, conversation), (None, {}))
        if known != revision:
            return tuple(decisions)
        now = _without_evidence(decisions)
        same = {skill_id for skill_id, own in now.items() if said.get(skill_id) == own}
        return tuple(one for one in decisions if one.skill_id not in same)

    def kept(self, tenant: str, conversation: str, revision: int, decisions: Sequence[Decision]) -> None:
        """Note what a turn decided whose State is now stored at that revision."""
        with self._lock:
            self._last[tenant, conversation] = revision, _without_evidence(decisions)
            self._last.move_to_end((tenant, conversation))
            if len(self._last) > self._remember:
                self._last.popitem(last=False)


def _without_evidence(decisions: Sequence[Decision]) -> _Said:
    """By skill, the decisions on those of which the turn's message said nothing."""
    found: dict[str, tuple[Decision, ...]] = {}
    for one in decisions:
        found[one.skill_id] = (*found.get(one.skill_id, ()), one)
    return {skill_id: own for skill_id, own in found.items() if not any(one.evidence for one in own)}
