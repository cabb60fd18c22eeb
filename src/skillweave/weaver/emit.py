"""What a skill announces, checked against the skills and the State as they are now."""

from collections.abc import Mapping

from skillweave.contracts.codes import fragment
from skillweave.contracts.plain import Limits, NotPlain, plain
from skillweave.diagnostics import has_errors
from skillweave.disclose.block import Rung
from skillweave.events.event import Announced, EventRefused, EventType, name_problem
from skillweave.registry import Snapshot
from skillweave.relations.rules import needs_any
from skillweave.relations.validate import complete_skills
from skillweave.skill import FrozenJson, Skill, freeze_mapping
from skillweave.state.approvals import kept_out
from skillweave.state.state import State, skill_key

PAYLOAD_LIMITS = Limits(values=5_000, depth=32, characters=64 * 1024)
"""What a payload may hold at most: values, levels of lists and objects, characters of text."""


def require_announced(
    snapshot: Snapshot, state: State, conversation: str, skill_id: str, event_type: str, payload: object
) -> Announced:
    """The payload as it may be told. Raises SkillNotFound and EventRefused, which says what would be right.

    MissingExtra is raised where the event has a schema and the package that checks it is not installed: a declared
    payload never passes unchecked.
    """
    skill = snapshot[skill_id]
    _require_own(skill, event_type)
    _require_engaged(skill_id, state, snapshot, conversation)
    data = _require_object(event_type, payload)
    declared = snapshot.events.get(event_type)
    if declared is not None:
        _require_match(declared, data, skill_id)
    return Announced(skill_id, data)


def _require_own(skill: Skill, event_type: str) -> None:
    if event_type not in skill.emits:
        may = f"it may emit {', '.join(skill.emits)}" if skill.emits else "it names none under `emits`"
        raise EventRefused(f"skill {skill.id!r} has no event {event_type[:100]!r}; {may}")
    problem = name_problem(event_type)
    if problem is not None:
        raise EventRefused(f"{event_type[:100]!r} of skill {skill.id!r} {problem}; rename it under `emits`")


def _require_engaged(skill_id: str, state: State, snapshot: Snapshot, conversation: str) -> None:
    engaged = [entry.skill_id for entry in state.engaged]
    record = state.record(skill_key(skill_id))
    only_listed = record is not None and record.rung is Rung.CATALOG
    rejected = kept_out(state.approvals, snapshot)
    engaged = [one for one in engaged if one not in rejected and not needs_any(one, rejected, snapshot)]
    if only_listed or skill_id not in complete_skills(engaged, snapshot).skills:
        raise EventRefused(
            f"skill {skill_id!r} is not in force in conversation {conversation[:100]!r}; "
            "it can announce something in a turn that gave it, and in later ones while it stays engaged"
        )


def _require_object(event_type: str, payload: object) -> Mapping[str, FrozenJson]:
    try:
        data = plain(payload, PAYLOAD_LIMITS)
    except NotPlain as refused:
        place = fragment("payload", refused.keys)
        raise EventRefused(f"the payload of {event_type!r} is refused at {place}: {refused}; {refused.fix}") from None
    if not isinstance(data, dict):
        raise EventRefused(f"the payload of {event_type!r} is not a JSON object; put the value under a key")
    return freeze_mapping(data)


def _require_match(declared: EventType, data: Mapping[str, FrozenJson], skill_id: str) -> None:
    place = f" at {declared.location}" if declared.location else ""
    if not declared.readable:
        raise EventRefused(
            f"the declaration of event {declared.name!r}{place} could not be read, so no payload passes it; "
            "correct what `skillweave check` says about it"
        )
    if not declared.schema or declared.schema is True:
        return
    from skillweave.contracts.check import check_against

    findings = check_against(declared.schema, data, place="payload", skill=skill_id)
    if has_errors(findings):
        first, more = findings[0], f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        what = f"{first.location}: {first.message}{more}"
        raise EventRefused(f"the payload does not fit event {declared.name!r} as declared{place}: {what}", findings)
