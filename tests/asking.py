"""Short ways to ask for a selection in tests."""

from collections.abc import Sequence
from types import MappingProxyType

from skillweave import Message, Role, Skill, Status, Triggers, Turn
from skillweave.registry import Snapshot
from skillweave.select.index import SkillIndex, build_index
from skillweave.select.selection import DEFAULT, select
from skillweave.selection import Candidate, Rejected, Selection
from skillweave.skill import title_of
from skillweave.skills import SkillText, Task, TaskRule
from skillweave.text.search import MatchMode


def skill(
    skill_id: str,
    *keywords: str,
    description: str = "",
    body: str = "",
    verbs: Sequence[str] = (),
    patterns: Sequence[str] = (),
    never: Sequence[str] = (),
    spelling: str | None = None,
    status: Status = Status.ACTIVE,
) -> Skill:
    triggers = Triggers(keywords=keywords, verbs=tuple(verbs), patterns=tuple(patterns), never=tuple(never))
    return Skill(
        skill_id,
        title_of(skill_id),
        description,
        triggers=triggers,
        spelling=spelling,
        status=status,
        text=SkillText(instructions=body or None),
    )


def index_of(*skills: Skill, mode: MatchMode = MatchMode.WORD, task_rules: Sequence[TaskRule] = ()) -> SkillIndex:
    snapshot = Snapshot(MappingProxyType({each.id: each for each in skills}), generation=1)
    return build_index(snapshot, mode=mode, task_rules=task_rules)


def turn(
    text: str,
    *,
    role: Role = Role.USER,
    transcript: Sequence[Message] | None = None,
    named: Sequence[str] = (),
    task: Task | None = None,
) -> Turn:
    known = None if transcript is None else tuple(transcript)
    return Turn("t1", "c1", Message(role, text), transcript=known, named=tuple(named), task=task)


def ask(
    searched: SkillIndex, text: str, *, within: frozenset[str] | None = None, matchers: Sequence[str] = DEFAULT
) -> Selection:
    return select(searched, turn(text), within=within, matchers=matchers)


def chosen(selection: Selection) -> list[str]:
    return [candidate.skill_id for candidate in selection.chosen]


def candidate(selection: Selection, skill_id: str) -> Candidate:
    return next(each for each in selection.chosen if each.skill_id == skill_id)


def refusal(selection: Selection, skill_id: str) -> Rejected:
    return next(each for each in selection.rejected if each.candidate.skill_id == skill_id)
