"""Libraries for the adapters' tests: one larger than its catalog, and one whose texts do not all fit at once."""

from typing import Any

from skillweave import Settings
from skillweave.selection import Candidate, MatchContext, Selection
from skillweave_testing.hosts.play import SKILLS, Play

CROWD: tuple[dict[str, Any], ...] = (
    *({key: one[key] for key in ("id", "description", "triggers", "text")} for one in SKILLS[:2]),
    *(
        {
            "id": f"form-{number:03}",
            "description": f"Fills in form {number:03} of the county register, by the rules that hold for its section "
            f"{number % 7}, and lists which annexes, fees and signatures are missing before it is sent.",
            "text": {"instructions": f"Begin with field {number} and leave no field empty."},
        }
        for number in range(120)
    ),
)
"""More skills than a catalog has room for, without tool rules; the first two have triggers."""


OFFERED = ("form-003", "form-007", "form-011")


class OffersForms:
    """A matcher that offers three skills of the crowd for a message about a drawer: likely, and not likely enough."""

    name, strength, deliberate = "offers-forms", 5, False

    def match(self, context: MatchContext) -> Selection:
        """What is offered; nothing is given."""
        if "drawer" not in context.turn.message.text:
            return Selection()
        known = (skill_id for skill_id in OFFERED if skill_id in context.skills.snapshot)
        return Selection(offered=tuple(Candidate(one, 0.5, self.name, probability=0.5) for one in known))


def begin_in_crowd(play: Play, settings: Settings | None = None) -> None:
    """Begin the conversation over the crowd, with a matcher that offers forms."""
    play.begin_among(CROWD, settings or Settings(), (OffersForms(),))


def long_text(topic: int) -> str:
    """The instructions of the topic's skill: two hundred words."""
    return " ".join(f"Step {step} of topic {topic}." for step in range(1, 41))


TOPICS: tuple[dict[str, Any], ...] = tuple(
    {
        "id": f"topic-{number}",
        "description": f"What is to be done about matter {number}.",
        "triggers": [f"matter{number}"],
        "text": {"instructions": long_text(number)},
    }
    for number in range(1, 6)
)
"""Five skills with long texts."""
