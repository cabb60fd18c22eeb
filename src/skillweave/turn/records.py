"""The records of what is shown: one row for the skill, one for each artifact and entity section in its block."""

from dataclasses import dataclass
from hashlib import sha256

from skillweave.disclose.block import Rung
from skillweave.disclose.fit import Shown
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import Inlined
from skillweave.disclose.sections import Readout
from skillweave.formats.arguments import digest_in_use
from skillweave.state.state import Delivery, Record, artifact_key, skill_key
from skillweave.state.transitions import CLAIM_SECONDS


@dataclass(frozen=True, slots=True)
class Giving:
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


def records_of(shown: Shown, giving: Giving, pricing: Pricing) -> tuple[Record, ...]:
    """The rows for a shown skill; the shares of one block add up to its tokens."""
    readouts = (row for readout in shown.readouts for row in readout_records(readout, giving))
    return (*_of_block(shown, giving, pricing), *readouts, *_of_context(shown, giving))


def readout_records(readout: Readout, giving: Giving) -> tuple[Record, ...]:
    """The rows for what was read: one for each leaf in the block, or one for a table of contents."""
    if readout.block is None:
        return ()
    carrier = readout.block.carrier(giving.turn_id)
    left = readout.block.tokens
    if not readout.leaves:
        contents = readout.reading.contents
        return (giving.record(contents.key, contents.section.digest, Rung.OUTLINE, carrier, left),)
    rows: list[Record] = []
    for leaf in readout.leaves[1:]:
        tokens = min(left, leaf.section.tokens)
        left -= tokens
        rows.append(giving.record(leaf.key, leaf.section.digest, Rung.INSTRUCTIONS, carrier, tokens))
    first = readout.leaves[0]
    return (giving.record(first.key, first.section.digest, Rung.INSTRUCTIONS, carrier, left), *rows)


def inlined_digest(inlined: Inlined) -> str:
    """The digest of an artifact's content: the reference's, else of the text itself."""
    return inlined.ref.content_hash or sha256(inlined.content.encode("utf-8", "surrogatepass")).hexdigest()


def _of_block(shown: Shown, giving: Giving, pricing: Pricing) -> tuple[Record, ...]:
    if shown.block is None or shown.rung is None:
        return ()
    skill = shown.want.skill
    carrier = shown.block.carrier(giving.turn_id)
    rung = shown.rung
    rows: list[Record] = []
    left = shown.block.tokens
    for inlined in shown.inlined:
        tokens = min(left, pricing.count(inlined.content))
        left -= tokens
        rows.append(
            giving.record(artifact_key(skill.id, inlined.ref.id), inlined_digest(inlined), rung, carrier, tokens)
        )
    for passage in shown.within:
        tokens = min(left, pricing.count(passage.text))
        left -= tokens
        rows.append(giving.record(passage.key, passage.digest, rung, carrier, tokens))
    return (giving.record(skill_key(skill.id), digest_in_use(skill, shown.want.arguments), rung, carrier, left), *rows)


def _of_context(shown: Shown, giving: Giving) -> tuple[Record, ...]:
    if shown.context is None:
        return ()
    carrier = shown.context.carrier(giving.turn_id)
    share, rest = divmod(shown.context.tokens, len(shown.apart))
    return tuple(
        giving.record(passage.key, passage.digest, Rung.FULL, carrier, share + (rest if place == 0 else 0))
        for place, passage in enumerate(shown.apart)
    )
