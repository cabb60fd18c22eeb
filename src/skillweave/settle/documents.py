"""How a skill's documents stand in the context: in its own block, or read by themselves (spec 5.1)."""

from collections.abc import Mapping, Sequence

from skillweave.conversation import Placement
from skillweave.disclose.render import Inlined
from skillweave.ledger.entries import inlined_digest
from skillweave.ledger.reconcile import Standing
from skillweave.ledger.state import DOCUMENT, artifact_key, document_key
from skillweave.plan import Plan, Wanted
from skillweave.skill import Skill


def to_inline(wanted: Wanted, plan: Plan, documents: Sequence[Inlined]) -> tuple[Inlined, ...]:
    """The documents that belong into the skill's block, without those that are read by themselves.

    None when the block that is there holds all of them already: giving it again would add nothing.
    """
    skill = wanted.skill
    asked = {document_key(skill.id, read.artifact or "", "") for read in wanted.reads}
    apart = asked | _read_apart(plan) if documents else asked
    left = tuple(document for document in documents if document_key(skill.id, document.ref.id, "") not in apart)
    if wanted.present is not None and len(in_block(skill, left, plan)) == len(left):
        return ()
    return left


def in_block(skill: Skill, documents: Sequence[Inlined], plan: Plan) -> set[str]:
    """The keys of those documents that stand in the skill's own block, as they are now."""
    if plan.turn.placement is Placement.CALL:
        return set()
    return recorded({artifact_key(skill.id, one.ref.id): inlined_digest(one) for one in documents}, plan)


def recorded(digests: Mapping[str, str], plan: Plan) -> set[str]:
    """Of texts by key, those that are in the context with this digest, or that another turn is giving."""
    if not digests:
        return set()
    standing = plan.reconciled.standing
    there = (record for record in plan.reconciled.state.records if standing[record.key] is not Standing.MINE)
    return {record.key for record in there if digests.get(record.key) == record.digest}


def _read_apart(plan: Plan) -> set[str]:
    """The keys of the documents of which a part at least was read by itself."""
    standing = plan.reconciled.standing
    read = (key for key in standing if key.startswith(DOCUMENT) and standing[key] is not Standing.MINE)
    return {f"{key.rpartition('#')[0]}#" for key in read}
