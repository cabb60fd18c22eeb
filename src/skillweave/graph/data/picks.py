"""`pick`: how the entry is chosen, in the data form (spec 3.1, 3.4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillweave.errors import nearest_names
from skillweave.graph.data.shape import (
    inside,
    is_null,
    require_known_keys,
    require_mapping,
    require_number,
    require_text,
    shown,
    wrong,
)
from skillweave.graph.declared import EntryPick
from skillweave.graph.scorers.named import DEFAULT_POLICIES, scorer_named
from skillweave.graph.scoring import Scorer

if TYPE_CHECKING:
    from skillweave.text.embedding import Embedder

PICKS = (EntryPick.DECLARATION.value, *DEFAULT_POLICIES, EntryPick.READ.value)
POLICY_KEYS = ("temperature", "min_score", "margin")
PICK_KEYS = ("by", *POLICY_KEYS)

_FORM = f"write one of {', '.join(PICKS)}, or {{by: lexical, margin: 0.5}}"


def read_pick(value: object, place: str, embedder: "Embedder | None" = None) -> EntryPick | Scorer:
    """What chooses the entry; `embedding` judges with the embedder. Raises InvalidGraph."""
    if isinstance(value, str):
        return _picked(_name(value, place), {}, embedder)
    data = require_mapping(value, place, _FORM)
    require_known_keys(data, PICK_KEYS, place)
    if "by" not in data:
        raise wrong(place, "there is no `by`", _FORM)
    name = _name(data["by"], inside(place, "by"))
    idle = next((key for key in POLICY_KEYS if key in data), None)
    if idle is not None and name not in DEFAULT_POLICIES:
        raise wrong(place, f"`{idle}` means nothing where no scorer chooses", "remove it, or pick by a scorer")
    return _picked(name, _policy(data, place), embedder)


def write_pick(pick: EntryPick | Scorer, place: str) -> object:
    """The same as plain data, a name alone where nothing else is set.

    Raises InvalidGraph for a scorer that is not built in.
    """
    if isinstance(pick, EntryPick):
        return pick.value
    name = built_in_name(pick)
    if name is None:
        fix = f"pick by one of {', '.join(PICKS)}, or keep this graph in Python"
        raise wrong(place, f"the scorer {pick.name[:60]!r} is code, which data cannot carry", fix)
    usual = DEFAULT_POLICIES[name]
    policy = {key: getattr(pick.policy, key) for key in POLICY_KEYS}
    unusual = {key: value for key, value in policy.items() if value != getattr(usual, key)}
    return {"by": name, **unusual} if unusual else name


def built_in_name(scorer: Scorer) -> str | None:
    """What the data form calls a scorer that is built in, None for any other."""
    return next((name for name in DEFAULT_POLICIES if type(scorer) is type(scorer_named(name))), None)


def _picked(name: str, policy: Mapping[str, float | None], embedder: "Embedder | None") -> EntryPick | Scorer:
    return scorer_named(name, policy, embedder) if name in DEFAULT_POLICIES else EntryPick(name)


def _name(value: object, place: str) -> str:
    name = require_text(value, place, _FORM)
    if name not in PICKS:
        near = nearest_names(name, PICKS)
        raise wrong(place, f"nothing picks by {shown(name)}", f"did you mean {near[0]!r}? {_FORM}" if near else _FORM)
    return name


def _policy(data: Mapping[str, object], place: str) -> dict[str, float | None]:
    given: dict[str, float | None] = {}
    for key in POLICY_KEYS:
        if key not in data:
            continue
        value, here = data[key], inside(place, key)
        if is_null(value) and key != "temperature":
            given[key] = None
            continue
        number = require_number(value, here)
        if key == "temperature" and number <= 0:
            raise wrong(here, f"it is {shown(number)}", "write a number above 0")
        if key == "margin" and number < 0:
            raise wrong(here, f"it is {shown(number)}", "write 0 or more")
        given[key] = float(number)
    return given
