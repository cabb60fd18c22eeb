"""A tool call judged between two turns: the policy as a view of the State, beside a whole turn played again for it."""

from collections.abc import AsyncIterator, Callable, Coroutine

from results import Effort, Row, Target, figure
from stage import make_stage, new_name, ready_weaver
from timing import awaited, interleaved

from skillweave import Injection, Placement, Ruling, Verdict, Weaver
from skillweave.selection import Tiktoken

TIMES_FASTER = 5
"""In call placement a turn played again renders every skill anew, so this much is the least to ask for."""


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """With the policy that the host still holds, without it, and by a turn played again; at growing registries."""
    sizes = (100, 1_000) if effort is Effort.QUICK else (100, 1_000, 10_000)
    counter = Tiktoken()
    counter.warm_up()
    for size in sizes:
        stage = make_stage(size, counter)
        weaver = await ready_weaver(stage)
        for placement in Placement:
            conversation = new_name("judged")
            ruled = {skill.id for skill in stage.skills if skill.tools is not None}
            message = next(message for message, made in stage.hits if made.name in ruled)
            held = await weaver.weave(message, conversation=conversation, placement=placement)
            ways = _ways(weaver, conversation, placement, held)
            await _check(ways)
            times = await interleaved(
                {name: awaited(way) for name, way in ways.items()}, samples=9 if effort is Effort.QUICK else 31
            )
            again = figure(times["a turn played again"])
            where = f"{placement.value} placement, {stage.size}"
            for name in ("policy held by the host", "policy read anew"):
                faster = times["a turn played again"].median / times[name].median
                asked = placement is Placement.CALL and name == "policy held by the host"
                target = Target(f"{TIMES_FASTER}x", faster >= TIMES_FASTER) if asked else None
                yield Row(
                    "one tool call judged", f"{name}, {where}", figure(times[name]), "a turn again", again, target
                )


def _ways(
    weaver: Weaver, conversation: str, placement: Placement, held: Injection
) -> dict[str, Callable[[], Coroutine[object, object, Verdict]]]:
    async def with_held() -> Verdict:
        now = await weaver.current_policy(conversation, placement=placement, held=held)
        return await weaver.authorize(now, "shell")

    async def anew() -> Verdict:
        return await weaver.authorize(await weaver.current_policy(conversation, placement=placement), "shell")

    async def again() -> Verdict:
        turn = await weaver.preview("", conversation=conversation, placement=placement)
        return await weaver.authorize(turn, "shell")

    return {"policy held by the host": with_held, "policy read anew": anew, "a turn played again": again}


async def _check(ways: dict[str, Callable[[], Coroutine[object, object, Verdict]]]) -> None:
    """That all three say no to the tool that the engaged skill forbids."""
    for name, way in ways.items():
        if (await way()).ruling is not Ruling.DENY:
            raise SystemExit(f"{name} lets a forbidden tool pass")
