"""What the exchange keeps beside the States: all of one scope in one slot, found and kept in one trip each."""

from collections.abc import Collection, Mapping
from hashlib import sha256

from skillweave.ledger import KEEP_ENTRIES_SECONDS, TOUCH_ENTRIES_SECONDS
from skillweave.values import tenant_of
from skillweave_stores.redis.scripts import TIME, Script
from skillweave_stores.redis.server import Server

_FIND = Script(
    f"""
-- KEYS: the entries. ARGV: the time or nothing, the seconds that they are kept, those after which use is noted.
{TIME}
local now, found = tonumber(clock(ARGV[1])), {{}}
for place, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  local at = value and tonumber(string.match(value, '^[^|]*'))
  if at and at >= now - ARGV[2] then
    local data = string.sub(value, string.find(value, '|', 1, true) + 1)
    found[#found + 1], found[#found + 2] = place - 1, data
    if at < now - ARGV[3] then redis.call('SET', key, now .. '|' .. data, 'EX', ARGV[2]) end
  end
end
return found
"""
)
_KEEP = Script(
    f"""
-- KEYS: the entries. ARGV: the time or nothing, the seconds that they are kept, then each entry.
{TIME}
local now = clock(ARGV[1])
for place, key in ipairs(KEYS) do redis.call('SET', key, now .. '|' .. ARGV[place + 2], 'EX', ARGV[2]) end
return 1
"""
)
_SECONDS, _TOUCH = round(KEEP_ENTRIES_SECONDS), round(TOUCH_ENTRIES_SECONDS)


async def find_entries(server: Server, now: str, tenant: str, scope: str, keys: Collection[str]) -> Mapping[str, bytes]:
    """The entries of these keys that there are."""
    names = list(keys)
    if not names:
        return {}
    found = await server.run(_FIND, _places(tenant, scope, names), now, _SECONDS, _TOUCH)
    return {names[place]: data for place, data in zip(found[::2], found[1::2], strict=True)}


async def keep_entries(server: Server, now: str, tenant: str, scope: str, entries: Mapping[str, bytes]) -> None:
    """Keep these entries."""
    if entries:
        await server.run(_KEEP, _places(tenant, scope, entries), now, _SECONDS, *entries.values())


def _places(tenant: str, scope: str, keys: Collection[str]) -> tuple[str, ...]:
    # A digest decides on the slot, so that no scope can choose it; names of any length become short ones.
    slot = sha256("\0".join((tenant_of(tenant), scope)).encode("utf-8", "surrogatepass")).hexdigest()
    digests = (sha256(key.encode("utf-8", "surrogatepass")).hexdigest() for key in keys)
    return tuple(f"skillweave:insertions:{{{slot}}}:{digest}" for digest in digests)
