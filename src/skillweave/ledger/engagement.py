"""Which skills apply to the conversation, and for how long (spec 5.4: lifecycles)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from skillweave.conversation import Role, Turn
from skillweave.decisions import Decision, Outcome
from skillweave.ledger.lifecycle import RECENT_MESSAGES, Lifecycle, LifecycleOf
from skillweave.ledger.state import Engaged, State
from skillweave.registry import Snapshot
from skillweave.relations.groups import Group
from skillweave.relations.rules import all_requirements
from skillweave.select.candidates import Selection

_STAGE = "admit"
_STRENGTH = ("lexical", "triggers", "graph", "task", "mention", "host", "explicit")
_LEFT = {
    Lifecycle.RECENT: f"left: no user message has matched it for more than {RECENT_MESSAGES} messages",
    Lifecycle.MESSAGE: "left: it applied to the user message that matched it, and this is the next one",
}


@dataclass(frozen=True, slots=True)
class Match:
    """A skill that this turn called for, and the matcher that did; `arguments` came with a mention, None without."""

    skill_id: str
    by: str
    arguments: str | None = None


def engaged_before(state: State, turn_id: str) -> tuple[Engaged, ...]:
    """What was engaged before this turn; a replay finds the same as the first run did."""
    return tuple(entry for entry in state.engaged if entry.since != turn_id)


def aged(engaged: Iterable[Engaged], matched: Iterable[str]) -> tuple[Engaged, ...]:
    """One user message later: matched skills start counting anew."""
    now = frozenset(matched)
    return tuple(replace(entry, idle=0 if entry.skill_id in now else entry.idle + 1) for entry in engaged)


def engage(engaged: Sequence[Engaged], matches: Iterable[Match], turn_id: str) -> tuple[Engaged, ...]:
    """Enter what this turn matched, in the order of first engagement; a stronger matcher replaces a weaker one.

    A mention's arguments, none too, take the place of earlier ones; a match without a mention leaves them as they are.
    """
    entries = {entry.skill_id: entry for entry in engaged}
    for match in matches:
        known = entries.get(match.skill_id)
        if known is None:
            entries[match.skill_id] = Engaged(match.skill_id, match.by, turn_id, arguments=match.arguments or "")
        else:
            arguments = known.arguments if match.arguments is None else match.arguments
            by = max(known.by, match.by, key=_strength)
            entries[match.skill_id] = replace(known, idle=0, by=by, arguments=arguments)
    return tuple(entries.values())


def engagers(engaged: Iterable[Engaged], snapshot: Snapshot) -> Mapping[str, str]:
    """By skill, companions too, the strongest of the matchers that brought it, so that none loosens another's rules."""
    brought: dict[str, str] = {}
    for entry in engaged:
        companions = (needed.rule.skill for needed in all_requirements([entry.skill_id], snapshot))
        for skill_id in (entry.skill_id, *companions):
            brought[skill_id] = max(brought.get(skill_id, entry.by), entry.by, key=_strength)
    return MappingProxyType(brought)


def lasting(engaged: Iterable[Engaged], lifecycle_of: LifecycleOf) -> tuple[Engaged, ...]:
    """What has not left because of its age."""
    return tuple(entry for entry in engaged if _lasts(entry, lifecycle_of(entry.skill_id)))


def living(engaged: Iterable[Engaged], lifecycle_of: LifecycleOf) -> tuple[Engaged, ...]:
    """The same entries, each with the lifecycle that it has now, for whoever looks at the State later."""
    return tuple(replace(entry, lifecycle=lifecycle_of(entry.skill_id)) for entry in engaged)


def still_engaged(
    state: State, selection: Selection, turn: Turn, lifecycle_of: LifecycleOf
) -> tuple[tuple[Engaged, ...], tuple[Decision, ...]]:
    """What is engaged from earlier turns when this one begins, and a decision for each that has left by its age."""
    earlier = engaged_before(state, turn.id)
    if turn.message.role is Role.USER and state.last_turn != turn.id:
        earlier = aged(earlier, (candidate.skill_id for candidate in selection.chosen))
    staying = lasting(earlier, lifecycle_of)
    gone = (entry.skill_id for entry in earlier if entry not in staying)
    return staying, tuple(Decision(one, Outcome.OVER_LIMIT, _STAGE, _LEFT[lifecycle_of(one)]) for one in gone)


def within_limit(
    groups: Sequence[Group], lives: Mapping[str, Lifecycle], max_skills: int
) -> tuple[Sequence[Group], tuple[Decision, ...]]:
    """The groups without the `recent` ones that are too many, and a decision for each skill that leaves by that.

    `lives` are the lifecycles of the skills that are here in their own right; companions have none.
    """
    recent = [group for group in groups if _lifecycles(group, lives) <= {Lifecycle.RECENT}]
    too_many = recent[max_skills:]
    reason = f"left: the {max_skills} most recently matched skills stay engaged"
    left = (member for group in too_many for member in group.members)
    staying = [group for group in groups if group not in too_many]
    return staying, tuple(Decision(member, Outcome.OVER_LIMIT, _STAGE, reason) for member in left)


def pinned_first(groups: Sequence[Group], lives: Mapping[str, Lifecycle]) -> Sequence[Group]:
    """The groups in their rank, those with a pinned skill before the others."""
    return sorted(groups, key=lambda group: Lifecycle.PINNED not in _lifecycles(group, lives))


def engaged_with(
    earlier: Iterable[Engaged],
    groups: Iterable[Group],
    selection: Selection,
    turn: Turn,
    parted: Collection[str] = (),
) -> tuple[Engaged, ...]:
    """What is engaged during this turn: of the earlier ones and of the matched ones, those that were admitted.

    `parted` are earlier ones that stay although they are not admitted: a person keeps out what they need, and a no ends
    nobody else's rules, or nobody knows them here.
    """
    admitted = {member for group in groups for member in group.members}
    staying = [entry for entry in earlier if entry.skill_id in admitted or entry.skill_id in parted]
    matches = [Match(c.skill_id, c.matcher, c.arguments) for c in selection.chosen if c.skill_id in admitted]
    return engage(staying, matches, turn.id)


def engaged_after(engaged: Iterable[Engaged], state: State, turn: Turn) -> tuple[Engaged, ...]:
    """What stays so after the turn: a replay engages nothing again that was disengaged since its first run."""
    if state.last_turn != turn.id:
        return tuple(engaged)
    known = {entry.skill_id for entry in state.engaged}
    return tuple(entry for entry in engaged if entry.skill_id in known)


def disengage(state: State, skill_id: str) -> State:
    """The skill no longer applies; what was given of it stays recorded, so that its text is not given twice.

    A cursor on it goes, so that the skill graph begins again.
    """
    kept = tuple(entry for entry in state.engaged if entry.skill_id != skill_id)
    cursor = None if state.cursor is not None and state.cursor.skill == skill_id else state.cursor
    return state if (kept, cursor) == (state.engaged, state.cursor) else replace(state, engaged=kept, cursor=cursor)


def by_recency(engaged: Iterable[Engaged]) -> tuple[Engaged, ...]:
    """Most recently matched first; among equals, in their latest rank, so that the same ones fit as did then."""
    latest_first = tuple(engaged)[::-1]
    return tuple(sorted(latest_first, key=lambda entry: (entry.idle, entry.place)))


def placed(engaged: Iterable[Engaged], groups: Iterable[Group]) -> tuple[Engaged, ...]:
    """The same entries, each with its rank in this turn; one that is in no group keeps the rank that it had."""
    members = dict.fromkeys(member for group in groups for member in group.members)
    places = {skill_id: place for place, skill_id in enumerate(members)}
    return tuple(replace(entry, place=places.get(entry.skill_id, entry.place)) for entry in engaged)


def _lasts(entry: Engaged, lifecycle: Lifecycle) -> bool:
    return lifecycle.most_idle is None or entry.idle <= lifecycle.most_idle


def _lifecycles(group: Group, lives: Mapping[str, Lifecycle]) -> set[Lifecycle]:
    return {lives[member] for member in group.members if member in lives}


def _strength(by: str) -> int:
    return _STRENGTH.index(by) if by in _STRENGTH else 0
