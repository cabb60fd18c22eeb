"""The ladder: which rung of each wanted skill fits into what is left of the budget (spec 5.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from skillweave.disclose.block import Priced
from skillweave.disclose.escape import REPLACES
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import Extras, Inlined, render_context
from skillweave.disclose.rung import Rung
from skillweave.skill import Skill


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of entity context that is not in the context yet; `key` is its record's."""

    key: str
    entity: str
    text: str
    digest: str


@dataclass(frozen=True, slots=True)
class Want:
    """A skill that should be in the context of the coming call.

    `present` is the rung whose text is there already, None when none is; `replaces` says that an outdated text of the
    skill may still stand there.
    """

    skill: Skill
    present: Rung | None = None
    replaces: bool = False
    artifacts: tuple[Inlined, ...] = ()
    passages: tuple[Passage, ...] = ()
    base_directory: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that did not fit, and what it would have cost in tokens."""

    what: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a wanted skill after this turn.

    `rung` None means nothing; `block` is the text to add now, None when nothing needs adding; `context` is a block of
    entity context alone; `left_out` is what did not fit.
    """

    want: Want
    rung: Rung | None
    block: Priced | None = None
    inlined: tuple[Inlined, ...] = ()
    within: tuple[Passage, ...] = ()
    context: Priced | None = None
    apart: tuple[Passage, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def added(self) -> int:
        """Tokens that this skill adds to the coming call."""
        return (self.block.tokens if self.block else 0) + (self.context.tokens if self.context else 0)


@dataclass(slots=True)
class _Purse:
    """Tokens still left in this turn, and the bound on one skill."""

    left: int
    per_skill: int
    pricing: Pricing
    catalog_shows: frozenset[str] = field(default_factory=frozenset)


def fit(
    groups: Sequence[Sequence[Want]],
    *,
    left: int,
    per_skill: int,
    pricing: Pricing,
    catalog_shows: frozenset[str] = frozenset(),
) -> tuple[Shown, ...]:
    """Fill the budget group by group, best ranked first; what is added never costs more than `left` tokens.

    A group steps down together: full, instructions without artifacts, catalog line, nothing. Artifacts are inlined
    one by one while they fit; entity context comes last. What is present is never shown again.
    """
    purse = _Purse(max(0, left), per_skill, pricing, catalog_shows)
    return tuple(shown for group in groups for shown in _fit_group(group, purse))


def _fit_group(group: Sequence[Want], purse: _Purse) -> Iterator[Shown]:
    for rung in (Rung.FULL, Rung.INSTRUCTIONS, Rung.CATALOG):
        steps = [_at(want, rung, purse) for want in group]
        cost = sum(step.added for step in steps)
        if cost <= purse.left and all(step.added <= purse.per_skill for step in steps):
            purse.left -= cost
            missing = [_missing(step, purse) for step in steps]
            yield from (_with_passages(_with_artifacts(step, purse), purse) for step in missing)
            return
    yield from (_with_passages(_missing(Shown(want, want.present), purse), purse) for want in group)


def _at(want: Want, rung: Rung, purse: _Purse) -> Shown:
    if want.present is not None and want.present >= min(rung, _highest(want)):
        return Shown(want, want.present)
    if rung is Rung.CATALOG:
        if want.present is not None or want.skill.id in purse.catalog_shows:
            return Shown(want, want.present or Rung.CATALOG)
        return Shown(want, rung, _priced(want, rung, (), (), purse))
    inlined = want.artifacts if rung is Rung.FULL else ()
    return Shown(want, rung, _priced(want, rung, inlined, (), purse), inlined)


def _highest(want: Want) -> Rung:
    return Rung.FULL if want.artifacts else Rung.INSTRUCTIONS


def _priced(want: Want, rung: Rung, inlined: tuple[Inlined, ...], within: tuple[Passage, ...], purse: _Purse) -> Priced:
    extras = Extras(
        inlined=inlined,
        context=tuple(passage.text for passage in within),
        base_directory=want.base_directory,
        replaces_earlier=REPLACES if want.replaces and rung is not Rung.CATALOG else "",
    )
    return purse.pricing.skill(want.skill, rung, extras)


def _missing(shown: Shown, purse: _Purse) -> Shown:
    if shown.rung is not None and shown.rung >= Rung.INSTRUCTIONS:
        return shown
    cost = _priced(shown.want, Rung.INSTRUCTIONS, (), (), purse).tokens
    return replace(shown, left_out=(LeftOut("instructions", cost),))


def _with_artifacts(shown: Shown, purse: _Purse) -> Shown:
    if shown.rung is not Rung.INSTRUCTIONS or shown.block is None:
        return shown
    for artifact in shown.want.artifacts:
        inlined = (*shown.inlined, artifact)
        bigger = _priced(shown.want, Rung.INSTRUCTIONS, inlined, (), purse)
        more = bigger.tokens - shown.block.tokens
        if more <= purse.left and bigger.tokens <= purse.per_skill:
            purse.left -= more
            shown = replace(shown, block=bigger, inlined=inlined)
        else:
            shown = replace(shown, left_out=(*shown.left_out, LeftOut(artifact.ref.id, more)))
    return shown if shown.left_out else replace(shown, rung=Rung.FULL)


def _with_passages(shown: Shown, purse: _Purse) -> Shown:
    if shown.rung is None or shown.rung < Rung.INSTRUCTIONS:
        lost = tuple(LeftOut(passage.key, purse.pricing.count(passage.text)) for passage in shown.want.passages)
        return replace(shown, left_out=(*shown.left_out, *lost))
    for passage in shown.want.passages:
        bigger = _grown(shown, passage, purse)
        more = bigger.added - shown.added
        if more <= purse.left:
            purse.left -= more
            shown = bigger
        else:
            shown = replace(shown, left_out=(*shown.left_out, LeftOut(passage.key, more)))
    return shown


def _grown(shown: Shown, passage: Passage, purse: _Purse) -> Shown:
    if shown.block is not None and shown.rung is not None:
        within = (*shown.within, passage)
        return replace(shown, within=within, block=_priced(shown.want, shown.rung, shown.inlined, within, purse))
    apart = (*shown.apart, passage)
    texts = [piece.text for piece in apart]
    return replace(
        shown, apart=apart, context=purse.pricing.priced(render_context(passage.entity, texts, shown.want.skill))
    )
