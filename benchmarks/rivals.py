"""Two other ways to bring skills into a call, each in the few lines that it takes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from made import Made

MAX_SKILLS = 3


class Rival(Protocol):
    """A way to bring skills into a call."""

    async def turn(self, message: str, present: Made | None) -> str:
        """The skill text of the coming call; `present` is the skill that the model loaded, where it does so itself."""
        ...


@dataclass(frozen=True, slots=True)
class AdrProvider:
    """Seed 004: every trigger of every skill is looked for in the message; what matches is in the instructions."""

    skills: Sequence[Made]

    async def turn(self, message: str, present: Made | None) -> str:
        matched = self._matched(message)[:MAX_SKILLS]
        documents = [f"# {skill.name}\n{skill.body}" for skill in matched]
        return "\n\n".join(["## Available Skills", *documents]) if documents else ""

    def _matched(self, message: str) -> list[Made]:
        text = message.lower()
        matched = []
        for skill in self.skills:
            for trigger in skill.triggers:
                if trigger.lower() in text:
                    matched.append(skill)
                    break
        return matched


@dataclass(slots=True)
class FlatCatalog:
    """A line per skill in every call, and a tool by which the model loads one; what it loaded stays in the history."""

    skills: Sequence[Made]
    _by_name: dict[str, Made] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = {skill.name: skill for skill in self.skills}

    async def turn(self, message: str, present: Made | None) -> str:
        lines = [f"- {skill.name}: {skill.description}" for skill in self.skills]
        catalog = "\n".join(["## Skills", "Call load_skill with a name to read its instructions.", *lines])
        return catalog if present is None else f"{catalog}\n\n{self._load_skill(present.name)}"

    def _load_skill(self, name: str) -> str:
        return self._by_name[name].body
