"""What runs inside the server: each script reads or changes all that belongs to one conversation in one step.

The hash of the State has the fields `revision`, `document`, `given` (the skills that the hash of given skills was left
with), `seen` and `noticed` (what another program made of that since, and when it was noticed) and `writes` (the marks
of the latest swaps). A change that another program made to the hash of given skills becomes a revision of its own as
soon as anybody loads it, so that who swaps knows what it is about; what is changed between a load and a swap is noticed
by the next load. The scripts declare all their keys, look at all of them before they write, and write what may lack
memory first, so that they fail as a whole.
"""

from dataclasses import dataclass, field
from hashlib import sha1

from skillweave.events import KNOWN_AGAIN

KEPT_WRITES = 8
"""So many swaps of others may be stored before one whose reply was lost is tried again."""
MARK_LENGTH = 16
_DAY = 86400

TIME = """
local function clock(told)
  if told ~= '' then return told end
  local time = redis.call('TIME')
  return time[1] .. '.' .. string.rep('0', 6 - #time[2]) .. time[2]
end
"""

_ENTERED = """
local function entered(key)
  local found = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.match(field, '^skill:[A-Za-z0-9_-]+$') and #field <= 106 then found[#found + 1] = field end
  end
  return found
end
"""

_WORDS = """
local function words(text)
  local found, count = {}, 0
  for word in string.gmatch(text or '', '%S+') do
    found[word], count = true, count + 1
  end
  return found, count
end
"""

_LOG = """
local function log(key, turn, decisions, time, seconds)
  local limit = tonumber(time) - seconds
  local field = 'turn:' .. turn
  local known = redis.call('HGET', key, field)
  if known and tonumber(string.match(known, '^%S+')) >= limit then return end
  local oldest = redis.call('HGET', key, 'oldest')
  local number = redis.call('HINCRBY', key, 'number', 1)
  redis.call('HSET', key, field, time .. ' ' .. number .. ' ' .. decisions)
  if not oldest or tonumber(time) < tonumber(oldest) then
    redis.call('HSET', key, 'oldest', time)
  elseif tonumber(oldest) < limit - DAY then
    local all, left = redis.call('HGETALL', key), time
    for place = 1, #all, 2 do
      if string.sub(all[place], 1, 5) == 'turn:' then
        local at = string.match(all[place + 1], '^%S+')
        if tonumber(at) < limit then
          redis.call('HDEL', key, all[place])
        elseif tonumber(at) < tonumber(left) then
          left = at
        end
      end
    end
    redis.call('HSET', key, 'oldest', left)
  end
  redis.call('EXPIRE', key, seconds + 2 * DAY)
end
""".replace("DAY", str(_DAY))


_TELL = """
local function tell(key, most, seconds, first)
  local known, added, newest = {}, false, ''
  for number, entry in ipairs(redis.call('XREVRANGE', key, '+', '-', 'COUNT', AGAIN)) do
    if number == 1 then newest = entry[1] end
    known[entry[2][2]] = true
  end
  for place = first, #ARGV, 2 do
    local id = ARGV[place]
    if not known[id] then
      known[id], added = true, true
      -- It names the one before it, so that whoever reads on can see whether any is missing in between.
      newest = redis.call('XADD', key, 'MAXLEN', '~', most, '*', 'id', id, 'event', ARGV[place + 1], 'after', newest)
    end
  end
  if added then redis.call('EXPIRE', key, seconds) end
end
""".replace("AGAIN", str(KNOWN_AGAIN))


@dataclass(frozen=True, slots=True)
class Script:
    """The text of a script, and the name by which a server knows it that has run it before."""

    text: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha", sha1(self.text.encode(), usedforsecurity=False).hexdigest())


LOAD = Script(
    f"""
-- KEYS: the State, the given skills, and the working memory where it is wanted too. ARGV: the time or nothing, the
-- seconds that the conversation is kept or nothing, the seconds that the memory is kept.
{TIME}{_ENTERED}{_WORDS}
local time = clock(ARGV[1])
local kept = redis.call('HMGET', KEYS[1], 'revision', 'document', 'given', 'seen', 'noticed')
local fields = entered(KEYS[2])
local known, count = words(kept[4] or kept[3])
local same = #fields == count
for _, field in ipairs(fields) do same = same and known[field] end
if not same then
  kept[4], kept[5] = table.concat(fields, ' '), time
  kept[1] = string.format('%.0f', redis.call('HINCRBY', KEYS[1], 'revision', 1))
  redis.call('HSET', KEYS[1], 'seen', kept[4], 'noticed', time)
end
if ARGV[2] ~= '' then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[2])
end
local memory = false
if KEYS[3] then
  -- What is wrong with the memory does not keep the State from being read.
  redis.pcall('EXPIRE', KEYS[3], ARGV[3])
  memory = redis.pcall('HGETALL', KEYS[3])
  if memory.err then memory = memory.err end
end
return {{time, kept[1], kept[2], kept[3], kept[4], kept[5], memory}}
"""
)
"""Everything about a conversation: the time, revision, document, `given`, `seen`, `noticed`, and its working memory:
the keys with their values, or the text of the error."""

SWAP = Script(
    f"""
-- KEYS: the State, the given skills, the decisions, and the events where there are any. ARGV: the time or nothing, the
-- seconds that the conversation is kept or nothing, the revision that is expected, the next one, the document, the
-- given skills, the mark of this swap, the turn, its decisions or nothing, the seconds that those are kept, how many
-- events are kept, for how many seconds, then each event's id and the event.
{TIME}{_WORDS}{_LOG}{_TELL}
local kept = redis.call('HMGET', KEYS[1], 'revision', 'given', 'seen', 'writes')
redis.call('HLEN', KEYS[2])
redis.call('HLEN', KEYS[3])
if KEYS[4] then redis.call('XLEN', KEYS[4]) end
if (kept[1] or '0') ~= ARGV[3] then
  -- It was stored already, where its reply was lost on the way.
  if kept[4] and string.find(kept[4], ARGV[7], 1, true) then return 1 end
  return 0
end
if redis.acl_check_cmd then
  local needed = {{
    {{'HSET', KEYS[1], 'a', 'b'}}, {{'HDEL', KEYS[1], 'a'}}, {{'PERSIST', KEYS[1]}}, {{'EXPIRE', KEYS[1], '1'}},
    {{'HSET', KEYS[2], 'a', 'b'}}, {{'HDEL', KEYS[2], 'a'}}, {{'PERSIST', KEYS[2]}}, {{'EXPIRE', KEYS[2], '1'}},
    {{'HSET', KEYS[3], 'a', 'b'}}, {{'HDEL', KEYS[3], 'a'}}, {{'HINCRBY', KEYS[3], 'a', '1'}},
    {{'HGETALL', KEYS[3]}}, {{'EXPIRE', KEYS[3], '1'}},
  }}
  if KEYS[4] then
    needed[#needed + 1] = {{'XREVRANGE', KEYS[4], '+', '-'}}
    needed[#needed + 1] = {{'XADD', KEYS[4], '*', 'a', 'b'}}
    needed[#needed + 1] = {{'EXPIRE', KEYS[4], '1'}}
  end
  for _, words in ipairs(needed) do
    if not redis.acl_check_cmd(unpack(words)) then
      return redis.error_reply('NOPERM this user has no permission to run ' .. words[1] .. ' on ' .. words[2])
    end
  end
end
local time = clock(ARGV[1])
local writes = ARGV[7] .. string.sub(kept[4] or '', 1, {(KEPT_WRITES - 1) * MARK_LENGTH})
redis.call('HSET', KEYS[1], 'revision', ARGV[4], 'document', ARGV[5], 'given', ARGV[6], 'writes', writes)
redis.call('HDEL', KEYS[1], 'seen', 'noticed')
local before, after = words(kept[3] or kept[2]), words(ARGV[6])
for field in pairs(after) do
  if not before[field] then redis.call('HSET', KEYS[2], field, 'injected') end
end
for field in pairs(before) do
  if not after[field] then redis.call('HDEL', KEYS[2], field) end
end
if ARGV[2] ~= '' then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[2])
elseif redis.call('PERSIST', KEYS[1]) == 1 then
  redis.call('PERSIST', KEYS[2])
end
if ARGV[9] ~= '' then log(KEYS[3], ARGV[8], ARGV[9], time, tonumber(ARGV[10])) end
if KEYS[4] then tell(KEYS[4], ARGV[11], ARGV[12], 13) end
return 1
"""
)
"""Whether a turn's writes were stored: 1 or 0."""

APPEND = Script(
    f"""
-- KEYS: the decisions. ARGV: the time or nothing, the turn, its decisions, the seconds that they are kept.
{TIME}{_LOG}
log(KEYS[1], ARGV[2], ARGV[3], clock(ARGV[1]), tonumber(ARGV[4]))
return 1
"""
)
"""Keeps the decisions of a turn, once."""

READ = Script(
    f"""
-- KEYS: the decisions. ARGV: the time or nothing.
{TIME}
return {{clock(ARGV[1]), redis.call('HGETALL', KEYS[1])}}
"""
)
"""The time, and the fields of the kept decisions with their values."""

TELL = Script(
    f"""
-- KEYS: the events. ARGV: how many are kept, for how many seconds, then each event's id and the event.
{_TELL}
tell(KEYS[1], ARGV[1], ARGV[2], 3)
return 1
"""
)
"""Puts events at the end, those that are not known."""

HEAR = Script(
    """
-- KEYS: the events. ARGV: the position after which they are wanted, 0-0 for all that there were, nothing for all that
-- are kept; how many at most.
local after = ARGV[1] ~= '' and ARGV[1] or '0-0'
if ARGV[1] ~= '' then
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  local there
  if after == '0-0' then
    there = not oldest or (oldest[2][6] or '') == ''
  else
    there = #redis.call('XRANGE', KEYS[1], after, after) > 0
  end
  if not there then return {0, oldest and oldest[1] or ''} end
end
local found = redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], after)
return {1, found and found[1][2] or {}}
"""
)
"""1 and the entries after a position, which is kept itself; else 0 and the oldest position that is kept."""

NEWEST = Script(
    """
-- KEYS: the events.
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return newest and newest[1] or '0-0'
"""
)
"""The position of the newest event, 0-0 where there is none."""

RECALL = Script(
    """
-- KEYS: the memory. ARGV: the seconds that it is kept.
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('HGETALL', KEYS[1])
"""
)
"""The keys of a working memory with their values, kept from now on."""

MERGE = Script(
    """
-- KEYS: the memory. ARGV: the seconds that it is kept, how many bytes it may have, then for each key: the key, its
-- value or nothing to remove it, and how many bytes the key has as JSON.
local all, values, sizes = redis.call('HGETALL', KEYS[1]), {}, {}
for place = 1, #all, 2 do
  local length, value = string.match(all[place + 1], '^(%d+) (.*)$')
  values[all[place]], sizes[all[place]] = value, tonumber(length)
end
for place = 3, #ARGV, 3 do
  values[ARGV[place]] = ARGV[place + 1] ~= '' and ARGV[place + 1] or nil
  sizes[ARGV[place]] = tonumber(ARGV[place + 2])
end
local bytes, count = 2, 0
for key, value in pairs(values) do
  -- A colon behind the key, and a comma between two of them.
  bytes, count = bytes + sizes[key] + 1 + #value, count + 1
end
if count > 0 then bytes = bytes + count - 1 end
if bytes > tonumber(ARGV[2]) then return {0, bytes} end
for place = 3, #ARGV, 3 do
  if ARGV[place + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[place])
  else
    redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 2] .. ' ' .. ARGV[place + 1])
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {1, redis.call('HGETALL', KEYS[1])}
"""
)
"""1 and what a working memory holds after the change; else 0 and the bytes that it would have."""

FORGET = Script(
    """
-- KEYS: what is removed.
return redis.call('DEL', KEYS[1])
"""
)
"""Whether there was anything: 1 or 0."""
