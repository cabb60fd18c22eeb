"""What a caller hands in by mistake is refused where it enters, in one line with the field and what is wanted."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import skillweave
from skillweave import (
    Budget,
    CatalogMode,
    MemoryStore,
    Message,
    Placement,
    Registry,
    Role,
    Settings,
    ToolResult,
    Turn,
    Weaver,
)
from skillweave.adapters.bridge import Bridge
from skillweave.checking import shown
from skillweave.errors import InvalidTurn, InvalidValue
from skillweave.ledger import Lifecycle
from skillweave.weaver import OnStoreFailure
from tests.observing import weaver_of
from tests.skills import make_skill

GREET = make_skill("greet-people", keywords=["hello"])
HELLO = {"role": "user", "content": "hello"}


def settings(**fields: Any) -> Settings:
    return Settings(**fields)


def budget(**fields: Any) -> Budget:
    return Budget(**fields)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"max_skills": -1}, "Settings(max_skills=...) is -1 (of type int); give a whole number from 0 on"),
        ({"max_skills": True}, "Settings(max_skills=...) is True; give a whole number from 0 on"),
        ({"max_skills": "3"}, "Settings(max_skills=...) is the text '3'; give a whole number from 0 on"),
        ({"ranked": None}, "Settings(ranked=...) is None; give a whole number from 0 on"),
        ({"give_at": 1.5}, "Settings(give_at=...) is 1.5 (of type float); give a number from 0 to 1"),
        ({"offer_at": float("nan")}, "Settings(offer_at=...) is nan (of type float); give a number from 0 to 1"),
        (
            {"budget": 5000},
            "Settings(budget=...) is 5000 (of type int); give skillweave.Budget(total=..., catalog=...)",
        ),
        (
            {"catalog": "allways"},
            ("Settings(catalog=...) is the text 'allways'; give one of 'auto', 'always', 'fallback', 'never'"),
        ),
        (
            {"lifecycles": {"a": "ever"}},
            (
                "Settings(lifecycles['a']=...) is the text 'ever'; "
                "give one of 'conversation', 'recent', 'message', 'pinned'"
            ),
        ),
        (
            {"catalog_first": "invoice"},
            "Settings(catalog_first=...) is the text 'invoice'; give a list of texts, such as ['invoice-checking']",
        ),
        ({"granted": [b"a"]}, "Settings(granted[0]=...) is of type bytes; give a text"),
        ({"task_rules": ["a"]}, "Settings(task_rules[0]=...) is the text 'a'; give TaskRule(When(...), skills)"),
        ({"fitted": {}}, "Settings(fitted=...) is of type dict; give an OwnFit, as `skillweave eval fit` writes it"),
    ],
)
def test_settings_name_the_field_what_came_and_what_is_wanted(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{re.escape(line)}$"):
        settings(**fields)


@pytest.mark.parametrize("value", [-1, 2.5, "1000", None])
def test_a_budget_takes_whole_numbers_from_zero_on(value: object) -> None:
    with pytest.raises(InvalidValue, match=r"^Budget\(total=\.\.\.\) is .*; give a whole number from 0 on$"):
        budget(total=value)


def test_the_text_of_an_enum_is_its_member_in_settings() -> None:
    given = settings(catalog="always", lifecycle="recent", lifecycles={"a": "pinned"})
    assert given.catalog is CatalogMode.ALWAYS
    assert given.lifecycle is Lifecycle.RECENT
    assert given.lifecycles == {"a": Lifecycle.PINNED}


def test_lists_in_settings_may_be_any_list() -> None:
    given = settings(catalog_first=["b", "a"], granted=["a"], entity_keys=iter(["case"]))
    assert (given.catalog_first, given.granted, given.entity_keys) == (("b", "a"), frozenset({"a"}), ("case",))


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (None, "Turn(message=...) is None; give a text, a Message, or a mapping with role and content"),
        (b"hello", "Turn(message=...) is of type bytes; give a text, a Message, or a mapping with role and content"),
        (["hello"], "Turn(message=...) is of type list; give a text, a Message, or a mapping with role and content"),
        ({"role": "user"}, "Turn(message=...) is a mapping without content; add it"),
        ({"content": "hello"}, "Turn(message=...) is a mapping without role; add it"),
        (
            {"role": "human", "content": "hello"},
            ("Message(role=...) is the text 'human'; give one of 'system', 'user', 'assistant', 'tool'"),
        ),
        (
            {"role": "user", "content": 7},
            "Message(content=...) is 7 (of type int); give a text, a list of parts, or None",
        ),
        ({"role": "user", "content": [7]}, "Message(content=...) has a part 7 (of type int); give texts and mappings"),
    ],
)
async def test_what_is_no_message_is_refused(message: Any, line: str) -> None:
    with pytest.raises(InvalidTurn, match=f"^{re.escape(line)}$"):
        await weaver_of(GREET).weave(message, conversation="c")


@pytest.mark.parametrize(
    "message",
    [
        HELLO,
        {"role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "image_url", "image_url": "x"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "hello"}], "id": "m1"},
        Message(Role.USER, "hello"),
    ],
)
async def test_a_mapping_with_role_and_content_is_a_message(message: Any) -> None:
    assert (await weaver_of(GREET).weave(message, conversation="c")).skills == ("greet-people",)


@pytest.mark.parametrize(
    ("role", "read"), [("developer", Role.SYSTEM), ("function", Role.TOOL), ("system", Role.SYSTEM)]
)
async def test_other_names_of_roles_are_read(role: str, read: Role) -> None:
    turn = Turn("t", "c", {"role": role, "content": "hello"})  # type: ignore[arg-type]
    assert turn.message == Message(read, "hello")


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"tools": "read_file"},
            "Turn(tools=...) is the text 'read_file'; give a list of texts, such as ['read_file']",
        ),
        (
            {"named": "invoice"},
            "Turn(named=...) is the text 'invoice'; give a list of texts, such as ['invoice-checking']",
        ),
        ({"named": [7]}, "Turn(named[0]=...) is 7 (of type int); give a text"),
        ({"memory": ["case"]}, "Turn(memory=...) is of type list; give a mapping with texts as keys"),
        ({"memory": {7: "case"}}, "Turn(memory[7 (of type int)]=...) is 7 (of type int); give a text as key"),
        ({"results": ["done"]}, "Turn(results[0]=...) is the text 'done'; give skillweave.ToolResult(tool, content)"),
        ({"transcript": "hello"}, "Turn(transcript=...) is the text 'hello'; give a list of messages"),
        ({"transcript": HELLO}, "Turn(transcript=...) is of type dict; give a list of messages"),
        (
            {"transcript": [HELLO, 7]},
            "Turn(transcript[1]=...) is 7 (of type int); give a text, a Message, or a mapping with role and content",
        ),
        (
            {"placement": "calls"},
            "Turn(placement=...) is the text 'calls'; give one of 'history', 'call'",
        ),
        ({"append_only": 1}, "Turn(append_only=...) is 1 (of type int); give True or False"),
        ({"conversation": 7}, "Turn(conversation=...) is 7 (of type int); give a text"),
        ({"turn_id": 7}, "Turn(id=...) is 7 (of type int); give a text"),
        ({"task": "coding"}, "Turn(task=...) is the text 'coding'; give a Task, such as Task(coding=True)"),
        ({"limits": {}}, "Turn(limits=...) is of type dict; give a plan's limits or ToolLimits.from_dict(...)"),
    ],
)
async def test_a_turn_names_the_field_what_came_and_what_is_wanted(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(InvalidTurn, match=f"^{re.escape(line)}$"):
        await weaver_of(GREET).weave("hello", **{"conversation": "c", **fields})


async def test_a_turn_takes_texts_of_enums_and_any_lists() -> None:
    weaver = weaver_of(GREET)
    injection = await weaver.weave("hello", conversation="c", placement="call", tools={"b", "a"}, transcript=[HELLO])  # type: ignore[arg-type]
    assert injection.placement is Placement.CALL
    assert injection.tools.grant == ("a", "b")


def test_a_turn_that_is_built_by_hand_is_checked_too() -> None:
    with pytest.raises(InvalidTurn, match=re.escape("Turn(named=...) is the text 'a'")):
        Turn("t", "c", Message(Role.USER, "hello"), named="a")  # type: ignore[arg-type]


def test_a_message_that_says_its_role_takes_none_beside_it() -> None:
    with pytest.raises(InvalidTurn, match="the message already says its role"):
        weaver_of(GREET).sync.weave(HELLO, conversation="c", role="assistant")  # type: ignore[typeddict-item]


def test_a_result_of_a_tool_is_a_text() -> None:
    with pytest.raises(InvalidTurn, match=re.escape("ToolResult(content=...) is of type dict; give a text")):
        ToolResult("search", {"found": 1})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("opened", "line"),
    [
        (
            lambda: skillweave.open(["a", "b"]),
            "skills are given as of type list; give several by themselves: open(*skills)",
        ),
        (
            lambda: skillweave.open(None),
            "skills are given as None; give a folder, a file, a Source, a Skill or a mapping",
        ),
        (lambda: skillweave.open(""), "the path of the skills is empty; give a folder or a file"),
        (
            lambda: skillweave.open(settings={}),
            "Weaver(settings=...) is of type dict; give skillweave.Settings(...), or None",
        ),
        (
            lambda: skillweave.open(ledger=7),
            "skillweave.open(ledger=...) is 7 (of type int); give a file name, a URL, a Store",
        ),
        (
            lambda: skillweave.open(matchers="lexical"),
            "skillweave.open(matchers=...) is the text 'lexical'; give a list of names",
        ),
        (lambda: skillweave.open(graph={}), "Weaver(graph=...) is of type dict; give a skillweave.graph.SkillGraph"),
        (
            lambda: skillweave.open(counter=len),
            "Weaver(counter=...) is of type builtin_function_or_method; give a TokenCounter",
        ),
        (lambda: skillweave.open(context=7), "Weaver(context=...) is 7 (of type int); give a ContextSource"),
        (lambda: skillweave.open(observers=[print]), "Weaver(observers[0]=...) is of type builtin_function_or_method"),
        (lambda: skillweave.open(tenant=None), "Weaver(tenant=...) is None; give a text"),
        (lambda: skillweave.open(progress=7), "skillweave.open(progress=...) is 7 (of type int); give a function"),
        (lambda: skillweave.open(cache=7), "skillweave.open(cache=...) is 7 (of type int); give the path of a folder"),
        (
            lambda: skillweave.open(on_store_failure="open"),
            "Weaver(on_store_failure=...) is the text 'open'; give one of",
        ),
        (lambda: skillweave.open(precedence="none"), "skillweave.open(precedence=...) is the text 'none'; give one of"),
        (lambda: Weaver([], MemoryStore()), "Weaver(registry=...) is of type list; give a Registry of sources"),
    ],
)
def test_open_refuses_at_once_what_it_cannot_use(opened: Callable[[], Any], line: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{re.escape(line)}"):
        opened()


def test_open_takes_the_texts_of_enums() -> None:
    weaver = skillweave.open(on_store_failure="raise", strictness="strict", precedence="last")  # type: ignore[arg-type]
    assert weaver._engine.on_store_failure is OnStoreFailure.RAISE


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"placement": "calls"}, "adapter(placement=...) is the text 'calls'; give one of 'history', 'call'"),
        (
            {"plan": {}},
            "adapter(plan=...) is of type dict; give the SpawnPlan of `weaver.composition.prepare_spawn`, or None",
        ),
    ],
)
def test_every_adapter_refuses_options_that_it_cannot_use(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{re.escape(line)}"):
        Bridge(Weaver(Registry([]), MemoryStore()), **fields)


def test_a_long_text_is_cut_in_an_error() -> None:
    assert len(shown("x" * 10_000)) < 100


def test_a_value_that_is_neither_short_nor_plain_is_named_by_its_type() -> None:
    assert shown({"secret": "x" * 10_000}) == "of type dict"
    assert shown(Settings) == "the class Settings"
