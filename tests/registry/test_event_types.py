from skillweave import Diagnostic, Registry, Severity, Skill
from skillweave.events import EventType
from skillweave.registry import Loaded
from skillweave.registry.last_good import last_good_event_types
from skillweave.registry.merging import merge_event_types

ANY = EventType("A", "", {})
OTHER = EventType("A", "", {"minProperties": 1})
BROKEN = EventType("A", "", schema=False)
ERROR = Diagnostic("x", Severity.ERROR, "wrong", "mend it")


class Declaring:
    """A source that only declares events."""

    def __init__(self, name: str, *types: EventType) -> None:
        self.name = name
        self.types = types

    async def load(self, previous: Loaded | None) -> Loaded:
        return Loaded(events={event_type.name: event_type for event_type in self.types})

    async def read(self, skill: Skill, artifact: str) -> bytes:
        raise AssertionError


def declaring(event_type: EventType) -> Loaded:
    return Loaded(events={"A": event_type})


def test_the_first_declaration_counts_and_the_other_is_a_finding() -> None:
    merged, (finding,) = merge_event_types([("one", declaring(OTHER)), ("two", declaring(ANY))])
    assert merged == {"A": OTHER}
    assert (finding.code, finding.severity.value) == ("event-declared-twice", "warning")
    assert "'A' of source 'two' is declared differently by source 'one'" in finding.message


def test_an_equal_declaration_is_no_finding_wherever_it_stands() -> None:
    again = EventType("A", "", {}, None)
    assert merge_event_types([("one", declaring(ANY)), ("two", declaring(again))]) == (
        {"A": ANY},
        (),
    )


def test_a_finding_for_each_source_that_differs() -> None:
    _, findings = merge_event_types([("one", declaring(OTHER)), ("two", declaring(ANY)), ("three", declaring(ANY))])
    assert [finding.location and finding.location.path for finding in findings] == ["two", "three"]


def test_a_declaration_that_never_could_be_read_lets_nothing_pass() -> None:
    assert last_good_event_types({}, Loaded(diagnostics=(ERROR,), events={"A": BROKEN})) == {"A": BROKEN}
    assert last_good_event_types({"A": BROKEN}, Loaded(diagnostics=(ERROR,), events={"A": BROKEN})) == {"A": BROKEN}


def test_without_an_error_only_what_is_declared_now_counts() -> None:
    assert last_good_event_types({"A": ANY}, Loaded()) == {}


async def test_a_snapshot_has_the_events_of_all_sources() -> None:
    registry = Registry([Declaring("one", OTHER), Declaring("two", ANY, EventType("B"))])
    await registry.refresh()
    assert registry.snapshot.events == {"A": OTHER, "B": EventType("B")}
    assert [found.code for found in registry.snapshot.diagnostics] == ["event-declared-twice"]


async def test_a_changed_declaration_is_a_new_generation_and_an_unchanged_one_is_not() -> None:
    source = Declaring("one", ANY)
    registry = Registry([source])
    await registry.refresh()
    before = registry.snapshot
    assert not await registry.refresh()
    source.types = (OTHER,)
    assert await registry.refresh()
    assert registry.snapshot.generation == before.generation + 1
    assert registry.snapshot.events == {"A": OTHER}


async def test_the_events_stay_when_a_skill_is_registered() -> None:
    registry = Registry([Declaring("one", ANY)])
    await registry.refresh()
    registry.register({"id": "a", "description": "b"})
    assert registry.snapshot.events == {"A": ANY}
