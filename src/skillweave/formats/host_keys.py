"""Keys that hosts of public skills read: who may ask for a skill, and when it is of use (spec 1.1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillweave.skill import Skill

NOT_BY_MODEL, BY_USER, WHEN_TO_USE = "disable-model-invocation", "user-invocable", "when_to_use"
"""The keys as they are mostly spelled; each is read with `-` or `_` between its words."""
FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
"""How YAML 1.2 spells truth values."""

_SAFER = {
    NOT_BY_MODEL: (True, "the model does not select the skill"),
    BY_USER: (False, "no mention selects the skill"),
}
"""The value of each that lets fewer select the skill, and what it means."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """Who may ask for a skill: the model (catalog, marker, triggers, words), and the user (a mention)."""

    by_model: bool = True
    by_user: bool = True

    def openings(self, skill_id: str) -> str:
        """Who may ask for the skill, in words that end a sentence: `only the host selects it`."""
        if not self.by_model and not self.by_user:
            return "only the host selects it"
        if not self.by_model:
            return f"only a user who mentions it as /{skill_id}, or the host, selects it"
        return "the model or the host selects it, no mention" if not self.by_user else "everybody selects it"


BY_ALL = Invocation()
"""Of a skill without such keys: everybody may ask for it."""


def invocation_of(skill: Skill) -> Invocation:
    """Who may ask for the skill; a value that is neither true nor false counts as the safer of the two."""
    if not skill.extra:
        return BY_ALL
    return Invocation(by_model=_is_open(skill.extra, NOT_BY_MODEL), by_user=_is_open(skill.extra, BY_USER))


def when_to_use_of(skill: Skill) -> str:
    """What the skill's author says about when it is of use, the empty text where that is nothing; lines of a list."""
    if not skill.extra:
        return ""
    return "\n".join(text for _, value in _stated(skill.extra, WHEN_TO_USE) for text in _texts(value) or ())


def misread(extra: Mapping[str, object]) -> Iterator[tuple[str, object, str, str]]:
    """Yields each host key whose value means nothing, with the value, how it is read, and the fix."""
    for key, (safer, meaning) in _SAFER.items():
        for spelled, value in _stated(extra, key):
            if _read(value) is None:
                reading = f"neither true nor false; read as {str(safer).lower()}: {meaning}"
                yield spelled, value, reading, "write true or false"
    for spelled, value in _stated(extra, WHEN_TO_USE):
        if _texts(value) is None:
            yield spelled, value, "not text; it is not searched", "write one text, or a list of texts"


def _is_open(extra: Mapping[str, object], key: str) -> bool:
    """Whether the key restricts nobody; where it stands twice, in both spellings, the safer value wins."""
    return all(_read(value) is not None and _read(value) is not _SAFER[key][0] for _, value in _stated(extra, key))


def _read(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return FLAGS.get(value) if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _stated(extra: Mapping[str, object], key: str) -> Iterator[tuple[str, object]]:
    for spelled in (key.replace("_", "-"), key.replace("-", "_")):
        if spelled in extra:
            yield spelled, extra[spelled]
