from skillweave.graph import AllOf, Declared, Entry, EntryScoring, Intent, MoveContext, Predicate, Regex
from skillweave.graph.compiled import compile_graph
from skillweave.graph.conditions import EvalContext, intents_of
from skillweave.graph.entry_scoring import scorable_entries
from skillweave.graph.moving import Notes, is_never, may_begin
from tests.graph.moments import raises, said

REFUND = Intent("a refund")
ENTRIES = (
    Entry("open"),
    Entry("said", said("x")),
    Entry("unsaid", said("y")),
    Entry("meant", REFUND),
    Entry("both", AllOf((said("x"), REFUND))),
    Entry("neither", AllOf((said("y"), REFUND))),
    Entry("broken", Predicate(raises)),
)


def _begins(message: str, scoring: EntryScoring | None = None, never: tuple[str, ...] = ()) -> list[str]:
    compiled = compile_graph(Declared(entries=ENTRIES, never_routes=never), "")
    ctx = EvalContext(compiled.lexicon, {}, MoveContext(message), scoring)
    return [entry.skill for entry in ENTRIES if may_begin(compiled, ctx, entry.skill, Notes())]


def _scorable(message: str, never: tuple[str, ...] = ()) -> list[str]:
    compiled = compile_graph(Declared(entries=ENTRIES, never_routes=never), "")
    return [
        entry.skill for entry in scorable_entries(compiled, EvalContext(compiled.lexicon, {}, MoveContext(message)))
    ]


def test_an_entry_may_begin_without_a_condition_or_when_its_condition_holds() -> None:
    assert _begins("x") == ["open", "said"]


def test_an_entry_with_an_intent_may_begin_when_the_intent_is_heard() -> None:
    assert _begins("x", EntryScoring("s", None, intent="a refund")) == ["open", "said", "meant", "both"]


def test_no_conditional_entry_may_begin_on_a_never_routes_phrase() -> None:
    assert _begins("X", never=("x",)) == ["open"]


def test_an_entry_may_be_scored_as_far_as_it_can_be_said_without_its_intent() -> None:
    assert _scorable("x") == ["open", "said", "meant", "both"]


def test_no_conditional_entry_may_be_scored_on_a_never_routes_phrase() -> None:
    assert _scorable("X", never=("x",)) == ["open"]


def test_a_never_routes_phrase_is_compared_folded_and_with_its_white_space_collapsed() -> None:
    compiled = compile_graph(Declared(entries=(Entry("a", Regex(".")),), never_routes=(" Danke  SCHÖN",)), "")

    def never(message: str) -> bool:
        return is_never(compiled, EvalContext(compiled.lexicon, {}, MoveContext(message)))

    assert [never(message) for message in ("danke schön", "Danke\n\tscho\u0308n ", "danke", "danke schön!")] == [
        True,
        True,
        False,
        False,
    ]


def test_the_intents_of_an_entry_are_found_inside_all() -> None:
    assert [intents_of(entry.condition) for entry in ENTRIES] == [(), (), (), (REFUND,), (REFUND,), (REFUND,), ()]
