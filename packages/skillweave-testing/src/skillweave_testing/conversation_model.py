"""The state machine's model: what the host was given, who is engaged for how long, and what people said."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from skillweave import ApprovalVerdict, Role, Ruling, Turn
from skillweave.ledger import Lifecycle

WAITING = math.inf
"""The end of a claim that waits for a person."""


@dataclass(slots=True)
class Given:
    """The model's idea of a live record: which text, by whom, confirmed (`until` None) or claimed until when."""

    skill_id: str
    text: str
    version: int
    turn: str
    until: float | None
    replaced: "Given | None" = None

    @property
    def claimed(self) -> bool:
        """Whether its delivery is still open."""
        return self.until is not None


class GivenTexts:
    """The live text of each skill, and how often each text stands in the history that no record speaks for."""

    def __init__(self) -> None:
        self.live: dict[str, Given] = {}
        self.dead: Counter[str] = Counter()
        self.whole: set[str] = set()

    def enter(self, given: Given) -> None:
        """A text is given, or found in the transcript; the one before it stays in the history."""
        self.whole.add(given.text)
        old = self.live.get(given.skill_id)
        if old is not None:
            self.dead[old.text] += 1
            given.replaced = old
        self.live[given.skill_id] = given

    def evict(self, skill_id: str) -> bool:
        """Forget a live text; False when there is none."""
        given = self.live.pop(skill_id, None)
        if given is not None:
            self.dead[given.text] += 1
        return given is not None

    def lose(self, seen: Counter[str]) -> None:
        """Believe a transcript that shows these texts."""
        for skill_id, given in list(self.live.items()):
            if seen[given.text] > 0:
                given.until = None
            elif not given.claimed:
                del self.live[skill_id]
        taken = Counter(given.text for given in self.live.values() if seen[given.text] > 0)
        for text in list(self.dead):
            self.dead[text] = min(self.dead[text], max(0, seen[text] - taken[text]))
        self.dead = +self.dead

    def withdraw(self, condition: Callable[[Given], bool]) -> None:
        """What meets the condition was not delivered; what it had replaced stands again."""
        for skill_id, given in list(self.live.items()):
            if not condition(given):
                continue
            del self.live[skill_id]
            old = given.replaced
            while old is not None and self.dead[old.text] > 0:
                self.dead[old.text] -= 1
                if not condition(old):
                    self.live[skill_id] = old
                    break
                old = old.replaced

    def claims(self, turn_id: str) -> list[Given]:
        """The open claims of a turn."""
        return [given for given in self.live.values() if given.turn == turn_id and given.claimed]

    def confirm(self, turn_id: str) -> bool:
        """The turn's claims were delivered; False when it has none."""
        claims = self.claims(turn_id)
        for given in claims:
            given.until = None
        return bool(claims)

    def mark(self, skill_id: str) -> bool:
        """The host says that it has the skill, so that a claim of it was delivered; False without a live text."""
        given = self.live.get(skill_id)
        if given is not None:
            given.until = None
        return given is not None

    def release(self, turn_id: str) -> bool:
        """The turn's claims were not delivered; False when it has none."""
        claims = self.claims(turn_id)
        self.withdraw(lambda given: given.turn == turn_id and given.claimed)
        return bool(claims)

    def hold(self, turn_id: str) -> set[str]:
        """The turn's claims wait for a person; the skills that they are about."""
        claims = self.claims(turn_id)
        for given in claims:
            given.until = WAITING
        return {given.skill_id for given in claims}

    def resume(self, waits: Callable[[str], bool], until: float) -> set[str]:
        """The turns none of whose claims waits for a person any more are claimed until then; the ids of these turns."""
        waiting = {given.turn for given in self.live.values() if given.until == WAITING and waits(given.skill_id)}
        free = [given for given in self.live.values() if given.until == WAITING and given.turn not in waiting]
        for given in free:
            given.until = until
        return {given.turn for given in free}

    def reject(self, skill_id: str) -> None:
        """A person said no to the skill: its claims were not delivered, what was given of it is forgotten."""
        self.withdraw(lambda given: given.skill_id == skill_id and given.claimed)
        self.evict(skill_id)

    def expire(self, now: float) -> None:
        """Claims whose time is over were not delivered."""
        self.withdraw(lambda given: given.until is not None and now >= given.until)

    def adoptable(self, edition: str, seen: Counter[str] | None) -> str | None:
        """A whole text with these words in the transcript beyond those that live and dead ones stand for."""
        if seen is None:
            return None
        taken = Counter(given.text for given in self.live.values() if seen[given.text] > 0)
        for text, count in self.dead.items():
            taken[text] += min(count, max(0, seen[text] - taken[text]))
        beyond = [text for text, count in seen.items() if count > taken[text] and text in self.whole]
        return min((text for text in beyond if edition in text), key=len, default=None)

    def expected(self, skill_id: str, version: int, edition: str, seen: Counter[str] | None) -> str:
        """What spec 5.4 promises for a wanted skill: given, there, or held."""
        live = self.live.get(skill_id)
        if live is not None and live.version == version:
            if seen is not None and seen[live.text] > 0:
                return "there"
            if live.claimed:
                return "held"
            if seen is None:
                return "there"
        return "given" if self.adoptable(edition, seen) is None else "there"


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


class EngagementModel:
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
        """The wanted skills whose checkpoint nobody has let them through."""
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
