"""The state machine's model of what the host was given: which texts are live, which merely stand in its history."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

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
        """A text is given or adopted; the one before it stays in the history."""
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
