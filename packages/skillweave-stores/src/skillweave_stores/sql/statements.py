"""The statements of a ledger on PostgreSQL, each of which does all that it does in one trip.

Plain SQL: to build a statement anew for each call costs more than the server takes to answer it. What comes from
outside is a parameter in all of them. `now` is the time of a store that was given a clock, else null.
"""

from functools import lru_cache

from skillweave.ledger import KEEP_DECISIONS_SECONDS

MOST_SWEPT = 500
"""Turns that are too old and that one write removes, so that it stays short."""
WRITERS = 8
"""So many writes may follow one whose answer was lost, while it is still known again."""

_NOW = "coalesce(%(now)s::float8, extract(epoch FROM clock_timestamp())::float8)"
LOAD = f"""
SELECT {_NOW} AS now, revision, document
FROM (SELECT 1) AS always LEFT JOIN states ON tenant = %(tenant)s AND conversation_hash = %(hash)s
"""
FIRST = """
INSERT INTO states (tenant, conversation_hash, conversation, revision, document, writers)
VALUES (%(tenant)s, %(hash)s, %(conversation)s, 1, %(document)s, ARRAY[%(writer)s]::varchar[])
ON CONFLICT DO NOTHING RETURNING 1
"""
NEXT = f"""
UPDATE states SET revision = revision + 1, document = %(document)s, updated_at = clock_timestamp(),
    writers = (ARRAY[%(writer)s]::varchar[] || writers)[1:{WRITERS}]
WHERE tenant = %(tenant)s AND conversation_hash = %(hash)s AND revision = %(expected)s RETURNING 1
"""
# One JSON text rather than an array for each column: the driver escapes texts of arrays letter by letter, in Python.
_LOG = f"""
INSERT INTO decisions (tenant, conversation_hash, turn_hash, conversation, turn_id, at, document)
SELECT tenant, decode(conversation_hash, 'hex'), decode(turn_hash, 'hex'), conversation, turn_id, {_NOW} - age, document
FROM json_to_recordset(%(turns)s::json) AS turn (tenant text, conversation_hash text, turn_hash text,
    conversation text, turn_id text, age float8, document text)
{{condition}}ON CONFLICT DO NOTHING RETURNING 1
"""
# After everything that may wait for somebody else, and past what others have locked: so nobody waits in a circle. The
# bound is asked once, in a query of its own: a clock that is asked for each row would leave the index unused.
_SWEEP = f"""
DELETE FROM decisions WHERE number = ANY (ARRAY(
    SELECT number FROM decisions
    WHERE at < (SELECT {_NOW} - {KEEP_DECISIONS_SECONDS:.0f}) AND EXISTS (SELECT FROM logged)
    ORDER BY at LIMIT {MOST_SWEPT} FOR UPDATE SKIP LOCKED))
"""
WRITTEN_BEFORE = """
SELECT count(*) FROM states
WHERE tenant = %(tenant)s AND conversation_hash = %(hash)s AND %(writer)s = ANY (writers)
"""
READ = f"""
SELECT turn_id, at, document FROM decisions
WHERE tenant = %(tenant)s AND conversation_hash = %(hash)s AND at >= {_NOW} - {KEEP_DECISIONS_SECONDS:.0f}
ORDER BY at, number
"""
# The first characters are what the index holds; the whole id decides where they are the same.
LIST = """
SELECT conversation FROM states
WHERE tenant = %(tenant)s AND left(conversation, 400) >= left(%(first)s, 400)
    AND conversation >= %(first)s AND conversation > %(after)s
    AND (%(end)s::text IS NULL OR left(conversation, 400) <= left(%(end)s, 400) AND conversation < %(end)s)
ORDER BY left(conversation, 400), conversation LIMIT %(limit)s
"""
COUNT = "SELECT count(*) FROM states WHERE tenant = %(tenant)s"
SETTINGS = """
SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')
UNION ALL SELECT 'read_only', CASE WHEN pg_is_in_recovery() THEN 'on' ELSE current_setting('transaction_read_only') END
"""


@lru_cache
def statement_of(change: str | None, *, logged: bool, sweeping: bool) -> str:
    """A statement that does all of it or nothing, and answers how many States it stored."""
    parts = [] if change is None else [f"written AS ({change})"]
    if logged:
        condition = "" if change is None else "WHERE EXISTS (SELECT FROM written) "
        parts.append(f"logged AS ({_LOG.format(condition=condition)})")
        parts += [f"swept AS ({_SWEEP})"] if sweeping else []
    return f"WITH {', '.join(parts)} SELECT count(*) FROM {'logged' if change is None else 'written'}"
