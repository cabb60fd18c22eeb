"""Skill texts that a host's history never holds are put back where they stood."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import skillweave
from skillweave import MemoryStore, Role
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import HostMessage, spoken
from skillweave.adapters.messages.lists import take_out
from skillweave.adapters.restoring import Form, Restoring
from skillweave_testing.fakes import FailingStore
from skillweave_testing.hosts.play import GREETINGS, INVOICES, SKILLS

pytestmark = pytest.mark.asyncio

Said = Mapping[str, Any]


def user(text: str) -> Said:
    return {"role": "user", "content": text}


YES: Said = {"role": "assistant", "content": "Yes."}


def read(chat: Sequence[Said]) -> list[HostMessage]:
    return [spoken("chat", Role(one["role"]), (one["content"],)) for one in chat]


FORM: Form[Said] = Form(read, user, lambda one: [one["role"], one["content"]], take_out)


class Room:
    def __init__(self) -> None:
        self.store = FailingStore(MemoryStore())
        self.weaver = skillweave.open(*SKILLS, ledger=self.store)

    async def call(self, *chat: Said, conversation: str = "c") -> list[str]:
        _, sent = await Restoring(Bridge(self.weaver), FORM).weave(chat, conversation)
        return [one["content"] for one in sent]


def held(call: Sequence[str], text: str) -> list[int]:
    return [index for index, one in enumerate(call) if text in one]


FIRST = user("Is this invoice right?")


async def test_a_text_stands_behind_the_same_message_in_every_call() -> None:
    room = Room()
    before = await room.call(FIRST)
    after = await room.call(FIRST, YES, user("Say bonjour"))
    assert held(before, INVOICES) == held(after, INVOICES) == [1]
    assert held(after, GREETINGS) == [4]
    assert after[: len(before)] == before


async def test_the_same_call_again_is_sent_the_same() -> None:
    room = Room()
    assert await room.call(FIRST) == await room.call(FIRST)


async def test_a_history_that_was_edited_gets_the_text_at_its_end() -> None:
    room = Room()
    await room.call(FIRST)
    assert held(await room.call(user("Is this one invoice right?"), YES, user("And now?")), INVOICES) == [3]


async def test_a_text_of_another_conversation_with_the_same_words_is_not_put_back() -> None:
    room = Room()
    await room.call(FIRST)
    await room.weaver.ledger.clear("d")
    assert await room.call(FIRST, YES, user("Hello"), conversation="d") == [FIRST["content"], "Yes.", "Hello"]


async def test_while_the_store_does_not_answer_the_call_is_sent_without_and_the_text_comes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = Room()
    await room.call(user("Say bonjour"))
    room.store.down.update({"load", "swap"})
    assert held(await room.call(user("Say bonjour"), YES, user("Go on")), GREETINGS) == []
    assert "cannot be put back" in caplog.text
    room.store.down.clear()
    assert held(await room.call(user("Say bonjour"), YES, user("Go on")), GREETINGS) == [1]


async def test_a_call_without_messages_is_no_mistake() -> None:
    assert await Room().call() == []
