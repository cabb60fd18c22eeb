"""The state machine's model of what is in force: who is engaged for how long, and what people said at checkpoints."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from skillweave.compose.policy import Ruling
from skillweave.conversation import Role, Turn
from skillweave.state.state import ApprovalVerdict, Lifecycle

SKILLS = ("alpha", "beta", "gamma", "delta")
LIFECYCLES: Mapping[str, Lifecycle] = MappingProxyType(
    {"alpha": Lifecycle.PINNED, "beta": Lifecycle.RECENT, "gamma": Lifecycle.MESSAGE}
)
"""All others have the lifecycle `conversation`."""
_MOST_IDLE = {"alpha": math.inf, "beta": 3, "gamma": 0, "delta": math.inf}
REQUIRES: Mapping[str, str] = MappingProxyType({"gamma": "delta"})
TOOL = "pay"
CHECKPOINTS: Mapping[str, tuple[str, str | None]] = MappingProxyType(
    {"alpha": ("sign-off", TOOL), "beta": ("sign-off", TOOL), "delta": ("review", None)}
)
"""Each one's only checkpoint: its name, and the tool that it stands before."""


class InForceModel:
    """Engaged skills with the user messages since their last match, and verdicts by skill and edition, newest last."""

    def __init__(self) -> None:
        self.engaged: dict[str, int] = {}
        self.versions = dict.fromkeys(SKILLS, 1)
        self.verdicts: dict[tuple[str, int], ApprovalVerdict] = {}

    def begin(self, turn: Turn) -> None:
        """A new turn: what is too old leaves, what it names is engaged, and what a rejection keeps out is neither."""
        if turn.message.role is Role.USER:
            self.engaged = {one: 0 if one in turn.named else idle + 1 for one, idle in self.engaged.items()}
        staying = {one: idle for one, idle in self.engaged.items() if idle <= _MOST_IDLE[one]}
        staying.update(dict.fromkeys(turn.named, 0))
        before = set(self.engaged)
        self.engaged = {
            one: idle
            for one, idle in staying.items()
            if not self._is_rejected(one) and (one in before or not self._is_kept_out(one))
        }

    def wanted(self) -> list[str]:
        """The engaged skills and those that they require, but for those that wait for one which a person rejected."""
        given = [one for one in self.engaged if not self._is_kept_out(one)]
        return sorted({*given, *(REQUIRES[one] for one in given if one in REQUIRES)})

    def decide(self, skill_id: str, verdict: ApprovalVerdict) -> None:
        """A person's verdict on the skill as it is now."""
        subject = skill_id, self.versions[skill_id]
        if next(reversed(self._on(skill_id).items()), None) != (subject, verdict):
            self.verdicts.pop(subject, None)
            self.verdicts[subject] = verdict
        if verdict is ApprovalVerdict.REJECTED:
            self.engaged.pop(skill_id, None)

    def withdraw(self, skill_id: str) -> int:
        """Forget every verdict on the skill; how many there were."""
        withdrawn = self._on(skill_id)
        for subject in withdrawn:
            del self.verdicts[subject]
        return len(withdrawn)

    def waits(self, skill_id: str) -> bool:
        """Whether a person must decide before the model acts on the skill."""
        return skill_id in CHECKPOINTS and CHECKPOINTS[skill_id][1] is None and self._is_undecided(skill_id)

    def pending(self) -> set[str]:
        """The skills in force whose checkpoint nobody has let them through."""
        return {one for one in self.wanted() if self._is_undecided(one)}

    def ruling(self) -> Ruling:
        """What becomes of a call of the tool that stands behind two checkpoints."""
        guards = [one for one, (_, tool) in CHECKPOINTS.items() if tool == TOOL]
        if any(self._denies(one) for one in guards):
            return Ruling.DENY
        return Ruling.ASK if self.pending() & set(guards) else Ruling.ALLOW

    def needing(self, skill_id: str) -> tuple[str, ...]:
        """The engaged skills that require this one."""
        return tuple(one for one in self.engaged if REQUIRES.get(one) == skill_id)

    def _denies(self, skill_id: str) -> bool:
        newest: Iterable[ApprovalVerdict] = reversed(self._on(skill_id).values())
        latest_is_no = next(iter(newest), None) is ApprovalVerdict.REJECTED
        return self._is_rejected(skill_id) or (latest_is_no and skill_id not in self.wanted())

    def _on(self, skill_id: str) -> dict[tuple[str, int], ApprovalVerdict]:
        return {subject: verdict for subject, verdict in self.verdicts.items() if subject[0] == skill_id}

    def _is_kept_out(self, skill_id: str) -> bool:
        return self._is_rejected(skill_id) or self._is_rejected(REQUIRES.get(skill_id, ""))

    def _is_rejected(self, skill_id: str) -> bool:
        return self.verdicts.get((skill_id, self.versions.get(skill_id, 0))) is ApprovalVerdict.REJECTED

    def _is_undecided(self, skill_id: str) -> bool:
        verdict = self.verdicts.get((skill_id, self.versions[skill_id]))
        return skill_id in CHECKPOINTS and verdict in (None, ApprovalVerdict.REJECTED)
