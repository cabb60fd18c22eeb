"""Skills asked for by name: by the model's marker, or by the host (spec 2.1, seed 000)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from skillweave.conversation import Message, Role, Turn, latest
from skillweave.decisions import Evidence, Outcome
from skillweave.errors import nearest_names
from skillweave.select.ask import Ask
from skillweave.select.candidates import Candidate, Rejected, Selection

MATCHER = "explicit"
MARKER = re.compile(r"SKILL_SELECT:([a-zA-Z0-9_-]+)")
LONGEST_ID = 100
MOST_UNKNOWN = 50
"""So many unknown ids of a turn are told one by one; a model that writes more of them is only counted."""
SUGGESTED = 3
"""For so many unknown ids of a turn the nearest known ones are looked up, which is slow among many skills."""

_PATH = re.compile(r"[a-zA-Z0-9_/-]*")


def match_explicit(ask: Ask) -> Selection:
    """What the host named, what the model reads by a tool call, then what the latest assistant message marks.

    In first-seen order, repeats dropped.

    A marker in a user or tool message never selects. An unknown id and an inactive skill are rejected, not errors.
    """
    chosen: list[Candidate] = []
    rejected: list[Rejected] = []
    unknown = 0
    for skill_id, pieces in asked_in(ask.turn).items():
        candidate = Candidate(skill_id, 1.0, MATCHER, tuple(pieces))
        if skill_id not in ask.kit.snapshot:
            unknown += 1
            if unknown <= MOST_UNKNOWN:
                rejected.append(_unknown(candidate, ask.kit.snapshot if unknown <= SUGGESTED else ()))
        elif (refusal := _refusal(ask, skill_id, pieces)) is not None:
            rejected.append(Rejected(candidate, *refusal))
        else:
            chosen.append(candidate)
    if unknown > MOST_UNKNOWN:
        more = f"{unknown - MOST_UNKNOWN} more ids that no skill has are not listed"
        last = max(place for place, one in enumerate(rejected) if one.outcome is Outcome.UNKNOWN)
        rejected[last] = replace(rejected[last], reason=f"{rejected[last].reason}; {more}")
    return Selection(tuple(chosen), tuple(rejected))


def asked_in(turn: Turn) -> Mapping[str, Sequence[Evidence]]:
    """Whom the host named, the model reads, or its latest message marks, in that order, each with how."""
    asked: dict[str, list[Evidence]] = {}
    for skill_id in dict.fromkeys(turn.named):
        asked.setdefault(skill_id, []).append(Evidence("host", skill_id[:LONGEST_ID]))
    for read in turn.reads:
        asked.setdefault(read.skill_id, []).append(Evidence("read", read.skill_id[:LONGEST_ID]))
    for skill_id, evidence in _marked(_latest_of_the_model(turn)):
        pieces = asked.setdefault(skill_id, [])
        if all(piece.kind != evidence.kind for piece in pieces):
            pieces.append(evidence)
    return asked


def without_markers(text: str) -> str:
    """The text with spaces in place of markers: in a user's message they select nothing, not even as an id."""
    return MARKER.sub(lambda match: " " * len(match[0]), text)


def _latest_of_the_model(turn: Turn) -> Message | None:
    if turn.message.role is Role.ASSISTANT:
        return turn.message
    return latest(Role.ASSISTANT, turn.transcript or ())


def _marked(message: Message | None) -> Iterator[tuple[str, Evidence]]:
    """Each marker's id and place; an id with a `/` right after it is a path, which no skill has for an id."""
    text = message.text if message else ""
    for match in MARKER.finditer(text):
        end = match.end()
        if text.startswith("/", end):
            path = _PATH.match(text, end, end + LONGEST_ID)
            end = path.end() if path else end
        yield text[match.start(1) : end], Evidence("marker", text[match.start() : end][:LONGEST_ID], match.start(), end)


def _refusal(ask: Ask, skill_id: str, pieces: Iterable[Evidence]) -> tuple[Outcome, str] | None:
    """Why a known skill is not given: what is closed to the model, no marker and no reading opens, only the host."""
    status = ask.kit.snapshot[skill_id].status
    if not status.selectable:
        return Outcome.INACTIVE, f"the skill is {status.value}; only active ones are given"
    invocation = ask.kit.invocation(skill_id)
    if not invocation.by_model and all(piece.kind != "host" for piece in pieces):
        return Outcome.FORBIDDEN, f"its `disable-model-invocation` is true: {invocation.openings(skill_id)}"
    if not ask.reaches(skill_id):
        return Outcome.UNREACHABLE, "it is not among the skills allowed in this turn"
    return None


def _unknown(candidate: Candidate, known: Iterable[str]) -> Rejected:
    reason = "no skill has this id"
    if near := nearest_names(candidate.skill_id, known):
        reason += f"; did you mean {' or '.join(repr(name) for name in near)}?"
    shown = replace(candidate, skill_id=candidate.skill_id[:LONGEST_ID])
    return Rejected(shown, Outcome.UNKNOWN, reason)
