"""The texts that a turn adds, each with the rows of the ledger that it carries."""

from skillweave.disclose.fit import Shown
from skillweave.disclose.rung import Rung
from skillweave.injection import Block
from skillweave.ledger.entries import Giving, readout_records
from skillweave.ledger.state import skill_key


def blocks_of(shown: Shown, giving: Giving) -> list[Block]:
    """The skill's own block, what was read of it, and entity context that stands apart, in this order."""
    blocks = []
    skill_id = shown.want.skill.id
    keys = [passage.key for passage in shown.apart]
    if shown.block is not None and shown.rung is not None:
        own = (skill_key(skill_id), *(passage.key for passage in shown.within))
        carrier = shown.block.carrier(giving.turn_id)
        blocks.append(Block(carrier, skill_id, shown.rung, own, shown.block.text, shown.block.tokens))
    for readout in shown.readouts:
        rows = readout_records(readout, giving)
        if readout.block is not None:
            block = readout.block
            keys_read = tuple(row.key for row in rows)
            blocks.append(Block(rows[0].carrier, skill_id, rows[0].rung, keys_read, block.text, block.tokens))
    if shown.context is not None:
        carrier = shown.context.carrier(giving.turn_id)
        blocks.append(Block(carrier, skill_id, Rung.FULL, tuple(keys), shown.context.text, shown.context.tokens))
    return blocks
