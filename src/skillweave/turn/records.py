"""The texts that a turn gives, each with the rows that the ledger keeps of it (spec 5.3, 5.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from skillweave.disclose.block import Priced, Rung
from skillweave.disclose.fit import Shown
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import Inlined
from skillweave.disclose.sections import Readout
from skillweave.injection import Block
from skillweave.state.state import Delivery, Record, artifact_key, skill_key
from skillweave.state.transitions import CLAIM_SECONDS


@dataclass(frozen=True, slots=True)
class RecordContext:
    """The turn that gives: its id, the store's clock in seconds, and whether delivery is still to be confirmed.

    `told` is the digest of the transcript that came with the call which it answers, if it answers one.
    """

    turn_id: str
    now: float
    delivery: Delivery
    told: str = ""

    def record(self, key: str, digest: str, rung: Rung, carrier: str, tokens: int) -> Record:
        """The row for one key in this turn's name."""
        until = self.now + CLAIM_SECONDS if self.delivery is Delivery.CLAIMED else None
        return Record(key, digest, rung, carrier, tokens, self.delivery, self.turn_id, self.now, until, self.told)


def given_texts(
    shown: Shown, digest: str, recording: RecordContext, pricing: Pricing
) -> Iterator[tuple[Block, tuple[Record, ...]]]:
    """The texts that a skill adds, each with its rows, whose tokens add up to the text's.

    First the skill's own block, then what was read of it, then entity context that stands apart. `digest` is that of
    the skill's text as it is shown.
    """
    if shown.block is not None and shown.rung is not None:
        yield _own_block(shown, shown.block, shown.rung, digest, recording, pricing)
    for readout in shown.readouts:
        if readout.block is not None:
            rows = readout_records(readout, recording)
            keys = tuple(row.key for row in rows)
            block = readout.block
            yield Block(rows[0].carrier, shown.want.skill.id, rows[0].rung, keys, block.text, block.tokens), rows
    if shown.context is not None:
        yield _context_block(shown, shown.context, recording)


def readout_records(readout: Readout, recording: RecordContext) -> tuple[Record, ...]:
    """The rows for what was read: one for each leaf in the block, or one for a table of contents."""
    if readout.block is None:
        return ()
    carrier = readout.block.carrier(recording.turn_id)
    left = readout.block.tokens
    if not readout.leaves:
        contents = readout.reading.contents
        return (recording.record(contents.key, contents.section.digest, Rung.OUTLINE, carrier, left),)
    rows: list[Record] = []
    for leaf in readout.leaves[1:]:
        tokens = min(left, leaf.section.tokens)
        left -= tokens
        rows.append(recording.record(leaf.key, leaf.section.digest, Rung.INSTRUCTIONS, carrier, tokens))
    first = readout.leaves[0]
    return (recording.record(first.key, first.section.digest, Rung.INSTRUCTIONS, carrier, left), *rows)


def inlined_digest(inlined: Inlined) -> str:
    """The digest of an artifact's content: the reference's, else of the text itself."""
    return inlined.ref.content_hash or sha256(inlined.content.encode("utf-8", "surrogatepass")).hexdigest()


def _own_block(
    shown: Shown, block: Priced, rung: Rung, digest: str, recording: RecordContext, pricing: Pricing
) -> tuple[Block, tuple[Record, ...]]:
    skill_id = shown.want.skill.id
    carrier = block.carrier(recording.turn_id)
    left = block.tokens
    rows: list[Record] = []
    documents = ((artifact_key(skill_id, one.ref.id), inlined_digest(one), one.content) for one in shown.inlined)
    for key, its_digest, text in (*documents, *((one.key, one.digest, one.text) for one in shown.within)):
        tokens = min(left, pricing.count(text))
        left -= tokens
        rows.append(recording.record(key, its_digest, rung, carrier, tokens))
    own = recording.record(skill_key(skill_id), digest, rung, carrier, left)
    keys = (own.key, *(passage.key for passage in shown.within))
    return Block(carrier, skill_id, rung, keys, block.text, block.tokens), (own, *rows)


def _context_block(shown: Shown, block: Priced, recording: RecordContext) -> tuple[Block, tuple[Record, ...]]:
    carrier = block.carrier(recording.turn_id)
    share, rest = divmod(block.tokens, len(shown.apart))
    rows = tuple(
        recording.record(passage.key, passage.digest, Rung.FULL, carrier, share + (rest if place == 0 else 0))
        for place, passage in enumerate(shown.apart)
    )
    keys = tuple(row.key for row in rows)
    return Block(carrier, shown.want.skill.id, Rung.FULL, keys, block.text, block.tokens), rows
