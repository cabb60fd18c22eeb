from skillweave.events import Callback
from tests.events.test_event import event


async def test_a_plain_function_is_called_with_each_event_in_order() -> None:
    heard: list[str | None] = []
    await Callback(lambda one: heard.append(one.turn_id)).observe([event(turn_id="1"), event(turn_id="2")])
    assert heard == ["1", "2"]


def test_a_callback_is_called_by_its_function() -> None:
    def to_the_dashboard(_: object) -> None: ...

    assert Callback(to_the_dashboard).name.endswith("to_the_dashboard")
