"""One decision for each wanted skill, and one for everything that was left out (spec 5.2 and 5.5)."""

from collections.abc import Iterator, Sequence

from skillweave.decisions import Decision, Evidence, Outcome
from skillweave.disclose.block import Rung
from skillweave.disclose.fit import Shown
from skillweave.disclose.sections import READ, Readout
from skillweave.state.state import Record, skill_key
from skillweave.turn.admit import SkillInTurn


def decisions_of(wanted: SkillInTurn) -> Iterator[Decision]:
    """What became of the skill, then of what was asked to be read of it, then what of it did not fit."""
    shown, adopted = wanted.shown, wanted.adopted
    whole = any(record.key == skill_key(wanted.skill.id) for record in adopted)
    outcome, reason, tokens = _verdict(wanted, shown, adopted=whole)
    candidate = wanted.candidate
    yield Decision(
        skill_id=wanted.skill.id,
        outcome=outcome,
        stage="disclose",
        reason=f"{_why_wanted(wanted)}; {reason}",
        score=None if candidate is None else candidate.score,
        matcher=wanted.engaged_by if candidate is None else candidate.matcher,
        evidence=() if candidate is None else candidate.evidence,
        tokens=tokens,
    )
    yield from (_of_readout(wanted, readout, adopted) for readout in shown.readouts)
    if shown.context is not None:
        sections = ", ".join(passage.key for passage in shown.apart)
        reason = f"entity context that was not there yet: {sections}"
        yield Decision(wanted.skill.id, Outcome.INJECTED, "disclose", reason, tokens=shown.context.tokens)
    for left_out in shown.left_out:
        if left_out is not shown.instructions_left_out:
            reason = f"{left_out.what} would have cost {left_out.tokens:,} tokens more than are left; it is only listed"
        elif shown.rung is Rung.OUTLINE:
            reason = f"its instructions have {left_out.tokens:,} tokens, more than are left: they are read in sections"
        else:
            continue  # this is the verdict on the skill itself
        yield Decision(wanted.skill.id, Outcome.OVER_BUDGET, "disclose", reason, tokens=left_out.tokens)
    yield from wanted.unknown


def _verdict(wanted: SkillInTurn, shown: Shown, *, adopted: bool) -> tuple[Outcome, str, int | None]:
    if wanted.held:
        return Outcome.HELD, "another turn is giving it at this moment", None
    if adopted:
        return Outcome.ADOPTED, "the transcript holds its text, which nothing had recorded", None
    missing = shown.instructions_left_out
    if missing is not None and shown.rung is not Rung.OUTLINE:
        return Outcome.OVER_BUDGET, _what_is_left(wanted, shown, missing.tokens), missing.tokens
    if shown.block is None:
        place = f" in message {wanted.carrier}" if wanted.carrier else ""
        return Outcome.ALREADY_PRESENT, f"its text is in the context already{place}", None
    tokens = shown.block.tokens
    how = _how_given(shown)
    if wanted.present is not None:
        return Outcome.UPGRADED, f"more of it fits now than the {wanted.present.label}: given {how}", tokens
    if wanted.carrier is None and not wanted.outdated:
        return Outcome.INJECTED, f"given {how}", tokens
    return Outcome.REFRESHED, f"given {how}, in place of an earlier text", tokens


def _how_given(shown: Shown) -> str:
    if shown.rung is Rung.OUTLINE:
        return "as an outline, to be read in sections"
    return "with its documents" if shown.inlined else "in full" if shown.rung is Rung.FULL else "instructions only"


def _of_readout(wanted: SkillInTurn, readout: Readout, adopted: Sequence[Record]) -> Decision:
    outcome, reason = _readout_verdict(readout, adopted)
    tokens = readout.cost if readout.block is None else readout.block.tokens
    return Decision(wanted.skill.id, outcome, READ, reason, matcher=wanted.engaged_by, tokens=tokens)


def _readout_verdict(readout: Readout, adopted: Sequence[Record]) -> tuple[Outcome, str]:
    what = readout.reading.what
    if readout.cost is not None:
        return Outcome.OVER_BUDGET, f"{what} needs {readout.cost:,} tokens, {_way_out(readout)}"
    if readout.block is not None:
        return Outcome.INJECTED, f"{what} was asked for and is given"
    if any(leaf.key in {record.key for record in adopted} for leaf in readout.reading.leaves):
        return Outcome.ADOPTED, f"the transcript holds {what}, which nothing had recorded"
    return Outcome.ALREADY_PRESENT, f"{what} is in the context already"


def _way_out(readout: Readout) -> str:
    if readout.block is not None:
        return "more than are left for it: its table of contents is given, read a part of it"
    if readout.reading.contents.there and readout.reading.section.parts:
        return "more than are left for it: its table of contents is in the context already, read a part of it"
    if readout.too_long and readout.outline is None:
        return "more than the budget allows, and cannot be divided"
    return "more than are left for it, and skill text has to go first to make room"


def _what_is_left(wanted: SkillInTurn, shown: Shown, cost: int) -> str:
    needs = f"its instructions need {cost:,} tokens, more than are left for it"
    if shown.block is not None:
        return f"{needs}: its catalog line stands in"
    if wanted.outdated:
        return f"{needs}: its earlier text stays"
    if shown.rung is Rung.CATALOG:
        return f"{needs}: the catalog names it"
    return f"{needs}: nothing of it is shown"


def _why_wanted(wanted: SkillInTurn) -> str:
    if wanted.goes_with is not None:
        return f"goes with {wanted.goes_with}"
    if wanted.candidate is None:
        return f"engaged earlier by {wanted.engaged_by}"
    return f"{wanted.candidate.matcher}: {_evidence(wanted.candidate.evidence)}"


def _evidence(evidence: tuple[Evidence, ...]) -> str:
    shown = ", ".join(f"{piece.kind} {piece.text!r}" for piece in evidence[:3] if piece.kind != "pattern")
    patterns = "a pattern" if any(piece.kind == "pattern" for piece in evidence[:3]) else ""
    return ", ".join(part for part in (shown, patterns) if part) or "matched"
