"""Which entity a turn is about, and what is asked to find it."""

import asyncio
from collections.abc import Mapping

import pytest

from skillweave import Message, Role, Settings, StoreUnavailable, Turn
from skillweave.entities import AmbiguousEntity, ContextRules, Entity, IdPattern, SectionPart, SectionRule
from skillweave.knowledge.context import EntityContext
from skillweave.knowledge.findings import EntityRules
from skillweave.knowledge.recognise import Recogniser
from skillweave.registry import Artifact
from skillweave.turn.admit import SkillInTurn
from skillweave.turn.fetch import Contents, Named, Subject, fetch, name_in, not_told, subject_of
from tests.skills import make_skill

PATTERNS = (IdPattern(r"\bIMO ?(\d{7})\b", "IMO-{1}"),)
SHOWN = (SectionRule("entity", (SectionPart(render=("Ship: {name}",)),)),)
RULES = EntityRules(ContextRules(SHOWN, entity_keys=("ship",), recognise=PATTERNS), Recogniser(PATTERNS))


def turn(text: str = "", role: Role = Role.USER, **memory: object) -> Turn:
    return Turn("t", "c", Message(role, text), memory=memory)


def name(of: Turn, before: str = "", settings: Settings | None = None) -> Named | None:
    return name_in(of, settings or Settings(), RULES, before)


def test_the_hosts_own_keys_go_before_those_of_the_pack() -> None:
    assert name(turn(ship="a", entity_id="b")) == Named("b", "`entity_id` of the memory")
    assert name(turn(ship="a", entity_id="b"), settings=Settings(entity_keys=())) == Named("a", "`ship` of the memory")


def test_the_message_goes_before_the_memory_and_that_before_what_was_named_earlier() -> None:
    assert name(turn("IMO 1234567", ship="a"), "old") == Named("IMO-1234567", "the message", over="a")
    assert name(turn("And now?", ship="a"), "old") == Named("a", "`ship` of the memory", said="And now?")
    assert name(turn("And now?"), "old") == Named("old", "the conversation", before=True, said="And now?")
    assert name(turn("Hello")) == Named("", "the message", before=True, said="Hello")
    assert name(turn()) is None


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
def test_only_what_the_user_says_is_searched_for_ids(role: Role) -> None:
    assert name(turn("IMO 1234567", role)) is None


@pytest.mark.parametrize(("value", "ref"), [(9074729, "9074729"), (" s-a\n", "s-a")])
def test_a_number_in_the_memory_is_a_name_too_and_blanks_around_a_name_are_not_part_of_it(
    value: object, ref: str
) -> None:
    assert name(turn(ship=value), "old") == Named(ref, "`ship` of the memory")


@pytest.mark.parametrize("value", [7.5, True, ["a"], "  "])
def test_what_is_no_name_names_nothing_and_clears_nothing(value: object) -> None:
    assert name(turn(ship=value), "old") == Named("old", "the conversation", before=True)


@pytest.mark.parametrize("value", [None, ""])
def test_a_key_with_nothing_in_it_ends_what_was_named_earlier(value: object) -> None:
    assert name(turn(ship=value), "old") is None
    assert name(turn("IMO 1234567", ship=value), "old") == Named("IMO-1234567", "the message")


class Names:
    """A context that knows names; of each tag it says the tag."""

    def __init__(self, names: Mapping[str, Entity | Exception]) -> None:
        self.names = names
        self.found: list[str] = []
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def find(self, ref: str) -> Entity | None:
        self.found.append(ref)
        answer = self.names.get(ref)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def assemble(self, entity: str, domain_tags: tuple[str, ...]) -> EntityContext:
        self.asked.append((entity, tuple(domain_tags)))
        return EntityContext(entity)


KNOWN = Names({"a": Entity("s-a", "Ship"), "two": AmbiguousEntity("two", ["x", "y"])})


async def test_a_name_is_the_entity_that_it_means() -> None:
    assert await subject_of(Named("a", "the message"), KNOWN) == Subject("s-a", "s-a")


@pytest.mark.parametrize(("ref", "code"), [("b", "entity-unknown"), ("two", "entity-ambiguous")])
async def test_a_name_that_means_nothing_or_too_much_is_told_and_forgotten(ref: str, code: str) -> None:
    subject = await subject_of(Named(ref, "the message"), KNOWN)
    assert (subject.entity, subject.remembered) == (None, "")
    assert subject.problem is not None and subject.problem.code == code


def test_where_nobody_answers_the_name_is_kept_so_that_it_is_asked_again() -> None:
    subject = not_told(Named("a", "the message"), None, 0.2)
    assert (subject.entity, subject.remembered) == (None, "a")
    assert subject.problem is not None and subject.problem.message.endswith("it did not come within 200 ms")


def tagged(skill_id: str, *tags: str) -> SkillInTurn:
    return SkillInTurn(make_skill(skill_id, domain_tags=tags), None, "host")


async def nothing_to_read(skill_id: str, artifact_id: str) -> Artifact:
    raise AssertionError(f"{skill_id} has no {artifact_id}")


async def read(context: Names, named: Named, *wanted: SkillInTurn) -> Contents:
    return await fetch(wanted, named, nothing_to_read, context, 1.0)


async def test_one_question_tells_which_entity_is_meant_for_all_skills_and_equal_tags_share_one_answer() -> None:
    context = Names(KNOWN.names)
    contents = await read(context, Named("a", "x"), tagged("k", "m"), tagged("l", "m"), tagged("n", "m", "o"))
    assert context.found == ["a"]
    assert sorted(context.asked) == [("s-a", ("m",)), ("s-a", ("m", "o"))]
    assert set(contents.contexts) == {"k", "l", "n"}


async def test_what_was_named_earlier_is_looked_up_only_where_a_skill_needs_it() -> None:
    context = Names(KNOWN.names)
    contents = await read(context, Named("a", "x", before=True), tagged("k"))
    assert (context.found, contents.subject) == ([], None)


async def test_a_name_that_is_new_is_looked_up_although_no_skill_needs_it() -> None:
    contents = await read(Names(KNOWN.names), Named("a", "x"))
    assert contents.subject == Subject("s-a", "s-a")


async def test_who_finds_no_entity_in_time_costs_the_context_of_each_skill_and_nothing_else() -> None:
    class Silent(Names):
        async def find(self, ref: str) -> Entity | None:
            await asyncio.Event().wait()
            return None

    contents = await fetch([tagged("k", "m")], Named("a", "x"), nothing_to_read, Silent({}), 0.02)
    assert contents.subject is not None and contents.subject.problem is not None
    assert [one.reason for one in contents.decisions] == ["context of a is left out: it did not come within 20 ms"]


async def test_a_very_long_name_that_means_nothing_takes_little_of_what_is_told() -> None:
    contents = await read(KNOWN, Named("x" * 1_000_000, "the memory"), tagged("k", "m"))
    assert contents.decisions
    assert all(len(decision.reason) < 500 for decision in contents.decisions)


async def test_a_very_long_name_is_not_kept_where_nobody_answers() -> None:
    class Down(Names):
        async def find(self, ref: str) -> Entity | None:
            raise StoreUnavailable("the graph is down")

    contents = await read(Down({}), Named("x" * 1_000_000, "the memory"), tagged("k", "m"))
    assert contents.subject is not None
    assert contents.subject.remembered == ""
    assert all(len(decision.reason) < 500 for decision in contents.decisions)
