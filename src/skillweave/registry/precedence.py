"""Which skill an id means when several sources bring it (spec 1.3): pure functions on offers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import DuplicateSkill
from skillweave.formats.identity import MAX_ID, Order, compare_versions, namespaced
from skillweave.registry.source import Reader
from skillweave.skill import Skill, is_skill_id


class Precedence(StrEnum):
    """Who wins a clash of ids between sources; with `namespace` a skill's id is `source__id`, so that few clash.

    What was registered in code wins always, but under `error`, which allows no clash at all.
    """

    FIRST = "first"
    LAST = "last"
    ERROR = "error"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True)
class Offer:
    """A skill as the registry shows it; `given` is the value as `reader` knows it, who reads its artifacts."""

    skill: Skill
    reader: Reader
    given: Skill


@dataclass(frozen=True, slots=True)
class Merged:
    """Who holds each id, in the order in which ids came up, and who lost; the `relabelled` lost their version only."""

    winners: Mapping[str, Offer] = field(default_factory=dict)
    shadowed: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    relabelled: tuple[str, ...] = ()


def merge(offers: Iterable[Offer], precedence: Precedence) -> Merged:
    """One winner per id; raises DuplicateSkill for the first clash where none is allowed."""
    winners: dict[str, Offer] = {}
    losers: list[Skill] = []
    for offer in offers:
        skill_id = offer.skill.id
        held = winners.get(skill_id)
        if held is None:
            winners[skill_id] = offer
        elif precedence is Precedence.ERROR:
            raise _duplicate(held.skill, offer.skill)
        elif precedence is Precedence.LAST:
            winners[skill_id] = offer
            losers.append(held.skill)
        else:
            losers.append(offer.skill)
    return Merged(winners, tuple(losers), _findings(winners, losers))


def overlay(merged: Merged, offers: Iterable[Offer], hidden: frozenset[str], precedence: Precedence) -> Merged:
    """The sources' skills without the hidden ones, and what was registered in code on top of them."""
    winners = dict(merged.winners)
    for skill_id in hidden:
        winners.pop(skill_id, None)
    losers: list[Skill] = []
    for offer in offers:
        held = winners.get(offer.skill.id)
        if held is not None:
            if precedence is Precedence.ERROR:
                raise _duplicate(held.skill, offer.skill)
            losers.append(held.skill)
        winners[offer.skill.id] = offer
    return Merged(
        winners,
        (*(skill for skill in merged.shadowed if skill.id not in hidden), *losers),
        (*(found for found in merged.diagnostics if found.skill not in hidden), *_findings(winners, losers)),
    )


def in_namespace(offers: Iterable[Offer], namespace: str) -> tuple[list[Offer], list[Diagnostic]]:
    """The offers of one source under ids of its namespace; relations among them follow, the old id stays a spelling.

    An id that becomes longer than an id may be is left out, with a finding.
    """
    given = list(offers)
    ids = {offer.skill.id: namespaced(namespace, offer.skill.id) for offer in given}
    fitting = [replace(offer, skill=_renamed(offer.skill, ids)) for offer in given if is_skill_id(ids[offer.skill.id])]
    return fitting, [_too_long(offer.skill) for offer in given if not is_skill_id(ids[offer.skill.id])]


def place_of(skill: Skill) -> str:
    """Where a skill came from, for people."""
    return skill.origin.location if skill.origin else "code"


def _renamed(skill: Skill, ids: Mapping[str, str]) -> Skill:
    return replace(
        skill,
        id=ids[skill.id],
        spelling=skill.spelling or skill.id,
        relations=tuple(replace(rule, skill=ids.get(rule.skill, rule.skill)) for rule in skill.relations),
    )


def _too_long(skill: Skill) -> Diagnostic:
    message = f"skill {skill.id!r} has more than {MAX_ID} characters with its source's name before it"
    fix = "shorten its name, or give the source a shorter one"
    return Diagnostic("id-too-long", Severity.ERROR, message, fix, skill.id, Location(place_of(skill)))


def _duplicate(held: Skill, other: Skill) -> DuplicateSkill:
    return DuplicateSkill(
        f"skill {held.id!r} comes from {place_of(held)} and from {place_of(other)}; "
        "remove or rename one, or choose the precedence first, last or namespace"
    )


def _findings(winners: Mapping[str, Offer], losers: Iterable[Skill]) -> tuple[Diagnostic, ...]:
    return tuple(_shadowed(loser, winners[loser.id].skill) for loser in losers)


def _shadowed(loser: Skill, winner: Skill) -> Diagnostic:
    message = f"skill {loser.id!r} of {place_of(loser)} is shadowed by the one of {place_of(winner)}"
    severity, fix = Severity.WARNING, "rename or remove one of the two, or give their sources namespaces"
    if loser.digest and loser.digest == winner.digest:
        severity, fix, message = Severity.INFO, "nothing is lost; remove one copy", f"{message}, an equal copy"
    elif loser.version is not None and winner.version is not None:
        message += _comparison(loser.version, winner.version)
    return Diagnostic("shadowed", severity, message, fix, loser.id, Location(place_of(loser)))


def _comparison(loser: str, winner: str) -> str:
    match compare_versions(loser, winner):
        case Order.NEWER:
            return f", although it is the newer version ({loser}, not {winner})"
        case Order.UNORDERED:
            return f"; no rule orders their versions {loser!r} and {winner!r}"
        case _:
            return ""
