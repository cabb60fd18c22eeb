"""The conversation of the demo: what is said, and what happens to the history in between."""

from dataclasses import dataclass
from enum import StrEnum

SKILL = "multilingual-greetings"


class Event(StrEnum):
    """What happens before a turn."""

    NOTHING = "nothing"
    COMPACTION = "compaction"
    EVICTION = "eviction"


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn: what happens before it, what the user says, and what its outcome shows."""

    message: str
    lesson: str
    event: Event = Event.NOTHING
    happening: str = ""


SUMMARY = "Summary: the user had greetings written for Alice and Bob."
REPLY = "(the model answers)"

SCENES = (
    Scene(
        "Say bonjour to Alice",
        "A word of the message is a trigger of this skill. Its text goes into the history; the others cost nothing.",
    ),
    Scene(
        "Now say hola to Bob",
        "The same skill is wanted, but its text still stands in the history: nothing is sent twice.",
    ),
    Scene(
        "What is 2+2?",
        "No skill is about this, so none is added. One line lets the model know that there are skills.",
    ),
    Scene(
        "Thank you!",
        "The skill is still engaged and its text is gone, so it comes back, although nothing in the message asks for "
        "it.",
        Event.COMPACTION,
        "The host compacts the history: only a summary is left of it, the skill's text is gone.",
    ),
    Scene(
        "Go on.",
        "What is evicted is forgotten, so it is given again. The old text counts until the host drops it from the "
        "history.",
        Event.EVICTION,
        f"Somebody evicts the skill, as `skillweave ledger evict CONVERSATION {SKILL}` does.",
    ),
)
