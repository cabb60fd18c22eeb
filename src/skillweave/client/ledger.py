"""The ledger and working memory over HTTP."""

from collections.abc import AsyncGenerator, Mapping

from skillweave.api.pages import ConversationPage
from skillweave.blocking import M, Verb, VerbSeries
from skillweave.client.room import Room
from skillweave.client.sending import Asked, at
from skillweave.state.state import Record, State


class Ledger(Room[M]):
    """The verbs about what conversations were given, and what they work on."""

    @VerbSeries
    def list_conversations(self, prefix: str = "") -> AsyncGenerator[str, None]:
        """The ids of the conversations that are kept and begin with `prefix`, in the order of their characters."""
        return self._entries("/ledger", ConversationPage, {"prefix": prefix or None})

    @Verb
    async def state(self, conversation: str) -> State:
        """All that is kept about the conversation; of one that nobody knows an empty State, with revision 0."""
        return await self._wire.answer(Asked("GET", at("/ledger/{}", conversation)), State)

    @Verb
    async def show_record(self, conversation: str, key: str) -> Record:
        """The record of one text; `key` is a skill's id or a ledger key. Raises ServiceError (404) where none is."""
        return await self._wire.answer(Asked("GET", at("/ledger/{}/{}", conversation, key)), Record)

    @Verb
    async def mark(self, conversation: str, key: str) -> Record:
        """Note that the host has this skill in its context already; it is not given; see `weaver.ledger.mark`."""
        return await self._wire.answer(Asked("PUT", at("/ledger/{}/{}", conversation, key)), Record)

    @Verb
    async def evict(self, conversation: str, key: str) -> None:
        """Forget that something was given, so that it is given again when wanted; again changes nothing."""
        await self._wire.send(Asked("DELETE", at("/ledger/{}/{}", conversation, key)))

    @Verb
    async def clear(self, conversation: str) -> None:
        """Forget everything about the conversation but its decisions; again changes nothing."""
        await self._wire.send(Asked("DELETE", at("/ledger/{}", conversation)))

    @Verb
    async def read_memory(self, conversation: str) -> Mapping[str, object]:
        """The conversation's working memory, empty where nothing is kept; kept for 24 hours after the last use."""
        return await self._wire.answer(Asked("GET", at("/memory/{}", conversation)), dict[str, object])

    @Verb
    async def merge_memory(self, conversation: str, changes: Mapping[str, object]) -> Mapping[str, object]:
        """Set these keys, and remove those whose value is None; the answer is what is kept then.

        Raises MemoryTooLarge for more than 64 KiB of JSON, and nothing is changed.
        """
        asked = Asked("PUT", at("/memory/{}", conversation), body=changes)
        return await self._wire.answer(asked, dict[str, object])

    @Verb
    async def forget_memory(self, conversation: str) -> None:
        """Forget all keys of the working memory; again changes nothing."""
        await self._wire.send(Asked("DELETE", at("/memory/{}", conversation)))
