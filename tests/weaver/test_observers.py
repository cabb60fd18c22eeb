import asyncio
import logging
from collections.abc import Sequence

import pytest

from skillweave import Event
from skillweave.events import Callback, CheckpointPending
from skillweave.weaver.telling import Observers
from skillweave_testing import Recorder

LONG = 30.0
"""Longer than any test takes."""
SHORT = 0.02


def event(number: int, conversation: str = "c") -> Event:
    payload = CheckpointPending("skill", f"checkpoint-{number}", "", None, None, None)
    return Event(str(number), payload.event_type, conversation, None, payload)


class Gate:
    """Takes events only while it is open, and notes in `seen` what it begins and ends."""

    name = "gate"

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.over = asyncio.Event()
        self.seen: list[str] = []

    async def observe(self, events: Sequence[Event]) -> None:
        self.seen.append(f"begins {events[0].id}")
        try:
            await self.open.wait()
            self.seen.append(f"ends {events[0].id}")
        finally:
            self.over.set()


class Stubborn(Gate):
    """Goes on when it is cancelled."""

    async def observe(self, events: Sequence[Event]) -> None:
        self.seen.append(f"begins {events[0].id}")
        while not self.open.is_set():
            try:
                await self.open.wait()
            except asyncio.CancelledError:
                continue
        self.seen.append(f"ends {events[0].id}")


async def told(observers: Observers, *events: Event) -> list[str]:
    found = await observers.tell("c", events).ended()
    return [finding.message for finding in found]


async def test_every_observer_has_all_events_when_the_telling_has_ended() -> None:
    one, other = Recorder(), Recorder()
    assert await told(Observers([one, other]), event(1), event(2)) == []
    assert one.batches == other.batches == [(event(1), event(2))]


async def test_one_that_raises_is_named_and_the_others_still_hear(caplog: pytest.LogCaptureFixture) -> None:
    broken, fine = Recorder(failure=OSError("no route to host"), name="webhook"), Recorder()
    with caplog.at_level(logging.WARNING, "skillweave"):
        (message,) = await told(Observers([broken, fine]), event(1))
    assert message == "observer webhook was not told what happened: OSError: no route to host"
    assert fine.types == ["checkpoint.pending"]
    (logged,) = caplog.records
    assert logged.getMessage() == "observer webhook failed in conversation 'c'"
    assert logged.exc_info is not None


async def test_one_that_hangs_is_ended_and_the_others_still_hear(caplog: pytest.LogCaptureFixture) -> None:
    gate, fine = Gate(), Recorder()
    with caplog.at_level(logging.WARNING, "skillweave"):
        (message,) = await told(Observers([gate, fine], seconds=SHORT), event(1))
        await asyncio.sleep(0)
    assert message == "observer gate was not told what happened: it took too long"
    assert fine.types == ["checkpoint.pending"]
    assert [record.getMessage() for record in caplog.records] == [
        "observer gate did not take the events of conversation 'c' in time"
    ]


async def test_a_finding_says_that_the_turn_is_complete() -> None:
    (finding,) = await Observers([Recorder(failure=ValueError())]).tell("c", [event(1)]).ended()
    assert (finding.code, finding.severity.value) == ("observer-failed", "warning")
    assert "the turn itself is complete" in finding.fix


async def test_a_long_complaint_is_cut() -> None:
    (message,) = await told(Observers([Recorder(failure=ValueError("x" * 10_000))]), event(1))
    assert len(message) < 300


async def test_the_next_events_wait_until_the_last_call_has_ended() -> None:
    gate = Gate()
    observers = Observers([gate], seconds=LONG)
    first, second = observers.tell("c", [event(1)]), observers.tell("c", [event(2)])
    await asyncio.sleep(0)
    assert gate.seen == ["begins 1"]
    gate.open.set()
    await asyncio.gather(first.ended(), second.ended())
    assert gate.seen == ["begins 1", "ends 1", "begins 2", "ends 2"]


async def test_the_order_is_that_of_the_tellings_whoever_waits_first() -> None:
    recorder = Recorder(delay=0.001)
    observers = Observers([recorder], seconds=LONG)
    tellings = [observers.tell("c", [event(number)]) for number in range(20)]
    await asyncio.gather(*(telling.ended() for telling in reversed(tellings)))
    assert [one.id for one in recorder.events] == [str(number) for number in range(20)]


async def test_another_conversation_does_not_wait() -> None:
    gate = Gate()
    observers = Observers([gate], seconds=LONG)
    tellings = [observers.tell("c", [event(1, "c")]), observers.tell("d", [event(2, "d")])]
    await asyncio.sleep(0)
    assert gate.seen == ["begins 1", "begins 2"]
    gate.open.set()
    for telling in tellings:
        await telling.ended()


async def test_one_that_ignores_its_end_holds_up_nobody_and_is_never_called_twice_at_once() -> None:
    stubborn, fine = Stubborn(), Recorder()
    observers = Observers([stubborn, fine], seconds=SHORT)
    assert len(await told(observers, event(1))) == 1
    assert len(await told(observers, event(2))) == 1
    assert stubborn.seen == ["begins 1"]
    assert [one.id for one in fine.events] == ["1", "2"]
    stubborn.open.set()
    third = Observers.tell(observers, "c", [event(3)])
    await third.ended()
    assert stubborn.seen == ["begins 1", "ends 1", "begins 3", "ends 3"]


async def test_a_cancelled_host_cancels_no_observer() -> None:
    gate = Gate()
    observers = Observers([gate], seconds=LONG)
    waiting = asyncio.ensure_future(observers.tell("c", [event(1)]).ended())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.open.set()
    await gate.over.wait()
    assert gate.seen == ["begins 1", "ends 1"]


async def test_one_that_hangs_is_ended_also_when_nobody_waits_any_more() -> None:
    gate = Gate()
    observers = Observers([gate], seconds=SHORT)
    waiting = asyncio.ensure_future(observers.tell("c", [event(1)]).ended())
    await asyncio.sleep(0)
    waiting.cancel()
    await gate.over.wait()
    assert gate.seen == ["begins 1"]


async def test_nothing_is_kept_about_conversations_that_are_quiet() -> None:
    observers = Observers([Recorder(), Recorder(failure=ValueError()), Gate()], seconds=SHORT)
    for number in range(5):
        await observers.tell(f"c{number}", [event(number)]).ended()
    await asyncio.sleep(0)
    assert not observers._lanes


async def test_without_observers_or_without_events_nothing_is_begun() -> None:
    recorder = Recorder()
    assert not Observers([]).tell("c", [event(1)]).tasks
    assert not Observers([recorder]).tell("c", []).tasks
    assert recorder.batches == []


async def test_an_observer_without_a_name_is_called_by_its_type() -> None:
    class Webhook:
        async def observe(self, events: Sequence[Event]) -> None:
            raise RuntimeError(f"{len(events)} events are too many")

    (message,) = await told(Observers([Webhook()]), event(1))
    assert message == "observer Webhook was not told what happened: RuntimeError: 1 events are too many"


def test_what_cannot_observe_is_refused_at_once_with_the_way_out() -> None:
    with pytest.raises(TypeError, match=r"print> is not an observer.*Callback"):
        Observers([print])  # type: ignore[list-item]


async def test_a_function_that_fails_is_called_by_its_name() -> None:
    def to_the_dashboard(_: Event) -> None:
        raise KeyError("dashboard")

    (message,) = await told(Observers([Callback(to_the_dashboard)]), event(1))
    assert "to_the_dashboard was not told what happened: KeyError" in message


def test_several_event_loops_can_use_the_same_observers() -> None:
    recorder = Recorder()
    observers = Observers([recorder])
    for number in range(3):
        asyncio.run(_tell(observers, number))
    assert [one.id for one in recorder.events] == ["0", "1", "2"]


async def _tell(observers: Observers, number: int) -> None:
    await observers.tell("c", [event(number)]).ended()


async def test_an_error_whose_text_cannot_be_read_costs_nobody_anything() -> None:
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    fine = Recorder()
    (message,) = await told(Observers([Recorder(failure=Unreadable()), fine]), event(1))
    assert message.endswith("was not told what happened: Unreadable: it has no readable text")
    assert fine.types == ["checkpoint.pending"]


class Reentrant:
    """Tells something more while it is being told, as one does that calls the Weaver."""

    def __init__(self) -> None:
        self.observers = Observers([self], seconds=LONG)
        self.seen: list[str] = []

    async def observe(self, events: Sequence[Event]) -> None:
        self.seen.append(f"begins {events[0].id}")
        if events[0].id == "1":
            await self._tell_more()
        self.seen.append(f"ends {events[0].id}")

    async def _tell_more(self) -> None:
        assert await told(self.observers, event(2)) == []


class ReentrantInATask(Reentrant):
    async def _tell_more(self) -> None:
        await asyncio.gather(super()._tell_more())


@pytest.mark.parametrize("reentrant", [Reentrant, ReentrantInATask])
async def test_one_that_tells_more_while_it_is_told_waits_for_nothing(reentrant: type[Reentrant]) -> None:
    observer = reentrant()
    async with asyncio.timeout(LONG / 10):
        assert await told(observer.observers, event(1)) == []
        await told(observer.observers, event(3))
    assert observer.seen == ["begins 1", "ends 1", "begins 2", "ends 2", "begins 3", "ends 3"]


async def test_what_an_observer_began_and_left_behind_is_waited_for_as_ever() -> None:
    left: list[asyncio.Task[list[str]]] = []
    over, recorder = asyncio.Event(), Recorder()
    observers = Observers([recorder])

    async def later() -> list[str]:
        await over.wait()
        await told(observers, event(2))
        return recorder.types

    class Leaving:
        async def observe(self, events: Sequence[Event]) -> None:
            left.append(asyncio.create_task(later()))

    await told(Observers([Leaving()]), event(1))
    over.set()
    assert await left[0] == ["checkpoint.pending"]
