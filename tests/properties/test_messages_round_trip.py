"""What holds for every chat: placing changes nothing of the host's, and what was placed is recognised again."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Injection, Placement, Record, State, Turn
from skillweave.adapters.messages import anthropic_style, openai_style, responses_style
from skillweave.disclose.block import text_digest
from skillweave.disclose.render import render_skill
from skillweave.ledger import Delivery
from skillweave.turn.reconcile import blocks_in, in_own_words
from skillweave.turns import Rung
from tests.chatting import ALL_SHAPES, Says, Shapes
from tests.depth import tried
from tests.injections import make_injection
from tests.skills import make_skill

LAWS = tried(20)
STYLES = pytest.mark.parametrize("style", ALL_SHAPES)

PASTED = "=== Skill Activated: A ===\n## Description\nPasted by a user."
words = st.one_of(
    st.sampled_from(("Hi", PASTED, "SKILL_SELECT:a", "=== Skill", "\ud800", "é\r\n")), st.text(min_size=1)
)


def user_messages(shapes: Shapes) -> st.SearchStrategy[dict[str, Any]]:
    """What a user may say: a text, or parts as the interface has them."""
    kind = "input_text" if shapes.style is responses_style else "text"
    texts = words.filter(lambda text: not text.startswith("==="))
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    part = st.builds(lambda text: {"type": kind, "text": text}, texts) | st.just(image)
    content = words | st.lists(part, min_size=1, max_size=3)
    return st.builds(lambda content: {"role": "user", "content": content}, content)


names = st.lists(st.sampled_from(("pay", "search")), max_size=2)
blocks = st.builds(
    lambda text, rung: render_skill(make_skill("a", instructions=text), rung).text,
    words,
    st.sampled_from((Rung.CATALOG, Rung.FULL)),
)


@st.composite
def exchanges(draw: st.DrawFn, shapes: Shapes) -> list[Any]:
    """What the user said, what the model answered, and the results of the tools that it called."""
    chat = [draw(user_messages(shapes))]
    called = draw(names)
    ids = [f"call-{n}" for n in range(len(called))]
    says = Says(draw(words), tuple((name, {}) for name in called))
    reply = shapes.reply(says, ids)
    chat = shapes.heard(chat, reply)
    calls = shapes.style.calls(reply)
    return shapes.answered(chat, [shapes.ran(call, draw(words)) for call in calls]) if calls else chat


@st.composite
def chats(draw: st.DrawFn, shapes: Shapes) -> list[Any]:
    """A chat as it stands before a call of the model."""
    said = [message for exchange in draw(st.lists(exchanges(shapes), max_size=3)) for message in exchange]
    return [*said, draw(user_messages(shapes))] if not said or draw(st.booleans()) else said


injections = st.builds(
    lambda texts, placement, catalog: make_injection(*texts, placement=placement, catalog=catalog),
    st.lists(blocks, max_size=3),
    st.sampled_from(Placement),
    st.sampled_from(("", "## Available Skills")),
)


def drawn(data: st.DataObject, style: str) -> tuple[Shapes, list[Any], Injection]:
    shapes = ALL_SHAPES[style]()
    return shapes, data.draw(chats(shapes)), data.draw(injections)


def read(shapes: Shapes, chat: list[Any]) -> Turn:
    return shapes.style.turn(chat, conversation="c")


@STYLES
@LAWS
@given(data=st.data())
def test_neither_reading_nor_placing_changes_what_the_host_has(style: str, data: st.DataObject) -> None:
    shapes, chat, injection = drawn(data, style)
    before = copy.deepcopy(chat)
    read(shapes, chat)
    placed = shapes.style.place(chat, injection)
    assert chat == before
    assert placed is not chat
    assert placed == chat or injection.placement is Placement.HISTORY


@STYLES
@LAWS
@given(data=st.data())
def test_placing_leaves_every_word_of_the_host_in_its_place(style: str, data: st.DataObject) -> None:
    shapes, chat, injection = drawn(data, style)
    before, after = read(shapes, chat), read(shapes, shapes.style.place(chat, injection))
    kept = [message for message in before.transcript or () if message.content]
    found = after.transcript or ()
    for message, now in zip(kept, found, strict=False):
        assert now.role is message.role
        assert (now.content or ())[: len(message.content or ())] == message.content


@STYLES
@LAWS
@given(data=st.data())
def test_the_placed_chat_is_the_same_turn_with_the_same_message(style: str, data: st.DataObject) -> None:
    shapes, chat, injection = drawn(data, style)
    before, after = read(shapes, chat), read(shapes, shapes.style.place(chat, injection))
    state = State(
        records=tuple(
            Record(f"skill:s{n}", "d", Rung.FULL, block.id, 1, Delivery.GIVEN, "t1", 0.0)
            for n, block in enumerate(injection.blocks)
        )
    )
    said, again = in_own_words(before, state).message, in_own_words(after, state).message
    assert (before.id, said, before.results) == (after.id, again, after.results)


@STYLES
@LAWS
@given(data=st.data())
def test_what_was_placed_is_recognised_in_the_next_transcript(style: str, data: st.DataObject) -> None:
    shapes, chat, injection = drawn(data, style)
    before = blocks_in(read(shapes, chat).transcript or ())
    after = blocks_in(read(shapes, shapes.style.place(chat, injection)).transcript or ())
    for message in injection.messages:
        digest = text_digest(message.text)
        given_now = sum(text_digest(other.text) == digest for other in injection.messages)
        assert after[digest] == before[digest] + given_now


@LAWS
@given(data=st.data(), base=words)
def test_openai_system_prompts_begin_with_the_base_and_the_catalog(data: st.DataObject, base: str) -> None:
    injection = data.draw(injections)
    stable = "\n\n".join(part for part in (base, injection.catalog) if part)
    assert openai_style.system(base, injection).startswith(stable)


@LAWS
@given(data=st.data(), base=words)
def test_anthropic_system_prompts_have_no_empty_text_and_few_markers(data: st.DataObject, base: str) -> None:
    prompt = anthropic_style.system(base, data.draw(injections))
    assert all(block["text"] for block in prompt)
    assert sum("cache_control" in block for block in prompt) <= 2
