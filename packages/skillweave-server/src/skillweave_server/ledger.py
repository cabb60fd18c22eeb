"""What is kept of a conversation, to be seen and changed between turns: its ledger, and its working memory."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Path

from skillweave import Record, State
from skillweave.api import ConversationPage, page
from skillweave.ledger import full_key
from skillweave_server.calls import Call
from skillweave_server.endpoints import After, ConversationId, Endpoints, Limit
from skillweave_server.problems import Refused
from skillweave_stores.access import Scope

LEDGER = Endpoints("ledger")

LONGEST_KEY = 2_000
"""Characters that the key of a record may have in a path."""

LedgerKey = Annotated[
    str,
    Path(
        min_length=1,
        max_length=LONGEST_KEY,
        description="A skill's id, or the key of a record as the ledger shows it, such as artifact:{skill}/{id}.",
    ),
]


@LEDGER.at("GET", "/ledger", scope=Scope.READ, answers=ConversationPage)
async def list_conversations(call: Call, prefix: str = "", after: After = "", limit: Limit = 20) -> ConversationPage:
    """The ids of the conversations that are kept, in the order of their characters; those that begin with `prefix`."""
    store = call.weaver().ledger.store
    found = await store.conversations(prefix, limit + 1, after, tenant=call.tenant)
    return page(ConversationPage, found, limit, str)


@LEDGER.at("GET", "/ledger/{conversation}", scope=Scope.READ, answers=State, problems=(409,))
async def show_conversation(call: Call, conversation: ConversationId) -> State:
    """All that is kept about the conversation; of one that nobody knows an empty state, with revision 0."""
    return await call.weaver().ledger.state(conversation)


@LEDGER.at("GET", "/ledger/{conversation}/{key:path}", scope=Scope.READ, answers=Record, problems=(404, 409))
async def show_record(call: Call, conversation: ConversationId, key: LedgerKey) -> Record:
    """The record of one text: whether it was given, in which version, and which block holds it."""
    full = full_key(key)
    state = await call.weaver().ledger.state(conversation)
    record = state.record(full)
    if record is None:
        there = f"it has {', '.join(one.key for one in state.records[:10])}" if state.records else "it has none"
        detail = f"conversation {conversation[:60]!r} has no record {full[:100]!r}; {there}"
        raise Refused(404, "no-record", detail)
    return record


@LEDGER.at("PUT", "/ledger/{conversation}/{key:path}", scope=Scope.WRITE, answers=Record, problems=(404, 409))
async def mark(call: Call, conversation: ConversationId, key: LedgerKey) -> Record:
    """Note that the host has this skill in its context already, so that it is not given; again changes nothing.

    A transcript without the skill's text goes before it: then the skill is given when wanted.
    """
    return await call.weaver().ledger.mark(conversation, key)


@LEDGER.at("DELETE", "/ledger/{conversation}/{key:path}", scope=Scope.WRITE, problems=(409,))
async def evict(call: Call, conversation: ConversationId, key: LedgerKey) -> None:
    """Forget that something was given, so that it is given again when wanted; again changes nothing."""
    await call.weaver().evict(conversation, key)


@LEDGER.at("DELETE", "/ledger/{conversation}", scope=Scope.WRITE, problems=(409,))
async def clear(call: Call, conversation: ConversationId) -> None:
    """Forget everything about the conversation but its decisions; again changes nothing."""
    await call.weaver().ledger.clear(conversation)


MEMORY = Endpoints("working memory")


@MEMORY.at("GET", "/memory/{conversation}", scope=Scope.READ, answers=Mapping[str, object])
async def read_memory(call: Call, conversation: ConversationId) -> Mapping[str, object]:
    """All keys with their values, an empty object where nothing is kept; kept for 24 hours after the last use."""
    return await call.service.memory.read(conversation, tenant=call.tenant)


@MEMORY.at(
    "PUT",
    "/memory/{conversation}",
    scope=Scope.WEAVE,
    takes=Mapping[str, object],
    answers=Mapping[str, object],
)
async def merge_memory(call: Call, conversation: ConversationId, asked: Mapping[str, object]) -> Mapping[str, object]:
    """Set these keys, and remove those whose value is null; the answer is what is kept then.

    Keys that are not named stay as they are, and a value takes the place of the earlier one as a whole. More than
    64 KiB of JSON answers 413, and nothing is changed.
    """
    return await call.service.memory.merge(conversation, asked, tenant=call.tenant)


@MEMORY.at("DELETE", "/memory/{conversation}", scope=Scope.WEAVE)
async def forget_memory(call: Call, conversation: ConversationId) -> None:
    """Forget all keys; again changes nothing."""
    await call.service.memory.forget(conversation, tenant=call.tenant)
