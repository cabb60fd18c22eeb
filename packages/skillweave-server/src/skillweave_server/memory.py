"""Working memory: what a conversation works on, which is part of each of its turns."""

from collections.abc import Mapping

from skillweave.access import Scope
from skillweave_server.calls import Call
from skillweave_server.endpoints import ConversationId, Endpoints

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
