"""Working memory on Redis: a hash for each conversation, with the JSON text of each value (spec 8)."""

import json
from collections.abc import Mapping, Sequence

from skillweave.ledger import KEEP_MEMORY_SECONDS, MOST_MEMORY_BYTES, MemoryTooLarge, merged
from skillweave.turns import require_id
from skillweave.values import ClosedOnExit, FrozenJson, as_json, freeze_mapping
from skillweave_stores.redis.keys import Keys, keys_of
from skillweave_stores.redis.place import Place, place_of
from skillweave_stores.redis.scripts import FORGET, MERGE, RECALL
from skillweave_stores.redis.store import RedisStore

_KEPT = round(KEEP_MEMORY_SECONDS)


class RedisWorkingMemory(ClosedOnExit):
    """Working memory on a Redis, a Valkey or a cluster, by the URLs that RedisStore takes; each call is one trip.

    With the `store` of the same conversations, a read inside `reading_ahead` brings the State in its trip. The server's
    clock counts. Raises InvalidValue for a URL or an option that cannot be read. All methods raise StoreUnavailable,
    which names the server but never its password.
    """

    def __init__(self, url: str, *, connections: int | None = None, store: RedisStore | None = None) -> None:
        place = place_of(url, {"connections": connections})
        from skillweave_stores.redis.server import Server

        self.place = place.shown
        self._place = place
        self._server = Server(place, "working memory", "RedisWorkingMemory")
        self._store = store

    def __repr__(self) -> str:
        return f"RedisWorkingMemory({self.place!r})"

    async def read(self, conversation: str, *, tenant: str = "") -> Mapping[str, FrozenJson]:
        """All keys, sorted, with their values; empty where nothing is kept."""
        keys = _keys(conversation, tenant)
        found = None if self._store is None else await self._store.memory_ahead(keys, _KEPT)
        if found is None:
            found = await self._server.run(RECALL, (keys.memory,), _KEPT)
        return _memory(keys.memory, found, self._place)

    async def merge(
        self, conversation: str, values: Mapping[str, object], *, tenant: str = ""
    ) -> Mapping[str, FrozenJson]:
        """Set these keys in one step, and remove those whose value is None; what is kept afterwards.

        Raises MemoryTooLarge, and InvalidValue for what is not JSON: then nothing changes.
        """
        key = _keys(conversation, tenant).memory
        merged({}, values)  # for what it raises
        words: list[str | int] = []
        for name, value in values.items():
            words += (name, "" if value is None else _text(as_json(value)), len(_text(name).encode()))
        stored, found = await self._server.run(MERGE, (key,), _KEPT, MOST_MEMORY_BYTES, *words)
        if not stored:
            raise MemoryTooLarge(found)
        return _memory(key, found, self._place)

    async def forget(self, conversation: str, *, tenant: str = "") -> bool:
        """Remove everything; False where nothing was kept."""
        return bool(await self._server.run(FORGET, (_keys(conversation, tenant).memory,)))

    async def close(self) -> None:
        """Give back the connections; afterwards every call raises StoreUnavailable."""
        await self._server.close()


def _keys(conversation: str, tenant: str) -> Keys:
    require_id("conversation", conversation, "WorkingMemory")
    return keys_of(tenant, conversation)


def _memory(key: str, flat: Sequence[bytes], place: Place) -> Mapping[str, FrozenJson]:
    try:
        # The length of the key as JSON stands before each value.
        found = {
            name.decode(): json.loads(value.partition(b" ")[2])
            for name, value in zip(flat[::2], flat[1::2], strict=True)
        }
    except (ValueError, RecursionError) as error:
        raise place.damaged(key, f"{type(error).__name__}: {error!s:.80}") from error
    return freeze_mapping(dict(sorted(found.items())))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
