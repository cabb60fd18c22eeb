"""The list of skill names that a caller hands in, checked and without repeats."""

from collections.abc import Iterable

from skillweave.errors import InvalidSkill


def require_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names in order, repeats dropped silently (V006); `InvalidSkill` for anything that is not a list of texts."""
    if isinstance(names, str | bytes):
        raise InvalidSkill(
            f"skill names are a list of texts, not the one text {_shown(names)}; write [{_shown(names)}]"
        )
    given = list(names)
    for position, name in enumerate(given):
        if not isinstance(name, str):
            raise InvalidSkill(
                f"skill name {position + 1} of {len(given)} is {_shown(name)}, of type {type(name).__name__}; "
                "names are texts"
            )
    return tuple(dict.fromkeys(given))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:100] + "…"
