"""A script: what happens in a conversation, step by step, and where each step should lead (spec 3.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.conversation import ToolResult
from skillweave.errors import nearest_names
from skillweave.graph.data.context import RESULT_KEYS, read_picks, read_result
from skillweave.graph.data.shape import (
    inside,
    is_null,
    require_known_keys,
    require_mapping,
    require_text,
    shown,
    wrong,
)
from skillweave.graph.move import By

MOST_STEPS = 10_000
STEP_KEYS = ("user", *RESULT_KEYS, "tools", "pick", "expect")
EXPECT_KEYS = ("to", "by")

_WAYS = tuple(by.value for by in By)
_FORM = "write {user: TEXT}, {tool: NAME, result: ...}, {tools: [...]} or {pick: ID}, with `expect: ID` to test it"
_EXPECT = "write a skill's id, null for none, or {to: ID, by: route}"


@dataclass(frozen=True, slots=True)
class Expect:
    """Where a step should lead: `to` None for nowhere, in a tree the leaf; `by` None where it does not matter.

    With `any_to` only `by` counts.
    """

    to: str | None = None
    by: By | None = None
    any_to: bool = False

    def holds(self, to: str | None, by: By) -> bool:
        """Whether it is as expected."""
        return (self.any_to or to == self.to) and (self.by is None or by is self.by)

    def to_dict(self) -> dict[str, str | None]:
        """The JSON form `{to, by}`, without what does not matter."""
        to = {} if self.any_to else {"to": self.to}
        return {**to, **({} if self.by is None else {"by": self.by.value})}


@dataclass(frozen=True, slots=True)
class Step:
    """What the user says, None for nothing, what tools answer, what the model picks; all may come in one step."""

    user: str | None = None
    tools: tuple[ToolResult, ...] = ()
    picks: tuple[str, ...] = ()
    expect: Expect | None = None


Script: TypeAlias = "Sequence[Step | ToolResult | str | Mapping[str, object]] | Mapping[str, object]"
"""Steps as values or as data: a text is what the user says; as a mapping `{steps: [...]}`."""


def read_script(script: Script) -> tuple[Step, ...]:
    """The steps of a script; raises InvalidGraph naming the place, as `steps[2].expect.by`, the rule and the fix."""
    steps: object = script
    if isinstance(script, Mapping):
        require_known_keys(script, ("steps",), "the script")
        steps = script.get("steps", ())
    if not isinstance(steps, list | tuple):
        raise wrong("steps", f"it is {shown(steps)}, and a list is expected", _FORM)
    if len(steps) > MOST_STEPS:
        raise wrong("steps", f"it has {len(steps):,} items, and {MOST_STEPS:,} are allowed", "split the script")
    return tuple(_step(step, inside("steps", number)) for number, step in enumerate(steps))


def _step(step: object, place: str) -> Step:
    if isinstance(step, Step):
        return step
    if isinstance(step, ToolResult):
        return Step(tools=(step,))
    if isinstance(step, str) and not is_null(step):
        return Step(user=str(step))
    data = require_mapping(step, place, _FORM)
    require_known_keys(data, STEP_KEYS, place)
    return Step(
        user=_said(data["user"], inside(place, "user")) if "user" in data else None,
        tools=_tools(data, place),
        picks=read_picks(data["pick"], inside(place, "pick")) if "pick" in data else (),
        expect=_expect(data["expect"], inside(place, "expect")) if "expect" in data else None,
    )


def _said(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise wrong(place, f"it is {shown(value)}, and text is expected", "write what the user says")
    return str(value)


def _tools(data: Mapping[str, object], place: str) -> tuple[ToolResult, ...]:
    single = {key: data[key] for key in RESULT_KEYS if key in data}
    if not single and "tools" not in data:
        return ()
    if "tools" not in data:
        return (read_result(single, place),)
    if single:
        fix = "put every result into `tools`"
        raise wrong(place, f"`tools` and `{next(iter(single))}` stand beside each other", fix)
    results = data["tools"]
    if not isinstance(results, list | tuple):
        raise wrong(inside(place, "tools"), f"it is {shown(results)}, and a list is expected", _FORM)
    return tuple(read_result(one, inside(inside(place, "tools"), number)) for number, one in enumerate(results))


def _expect(value: object, place: str) -> Expect:
    if is_null(value) or isinstance(value, str):
        return Expect(_id(value, place))
    data = require_mapping(value, place, _EXPECT)
    require_known_keys(data, EXPECT_KEYS, place)
    if not data:
        raise wrong(place, "nothing is expected", _EXPECT)
    return Expect(
        to=_id(data["to"], inside(place, "to")) if "to" in data else None,
        by=_by(data["by"], inside(place, "by")) if "by" in data else None,
        any_to="to" not in data,
    )


def _id(value: object, place: str) -> str | None:
    return None if is_null(value) else require_text(value, place, _EXPECT)


def _by(value: object, place: str) -> By:
    name = require_text(value, place, f"write one of {', '.join(_WAYS)}")
    if name not in _WAYS:
        near = nearest_names(name, _WAYS)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise wrong(place, f"nothing moves by {shown(name)}", f"{guess}write one of {', '.join(_WAYS)}")
    return By(name)
