"""`task_rules:` of a pack: which skills a kind of task calls for (spec 1.2 and 2.1)."""

from collections.abc import Mapping
from dataclasses import dataclass

from skillweave.diagnostics import Diagnostic, Location
from skillweave.formats import codes
from skillweave.formats.fields import Fields, Findings
from skillweave.formats.identity import id_of
from skillweave.frontmatter.codes import Code
from skillweave.frontmatter.yaml_text import Keys
from skillweave.skill import is_skill_id
from skillweave.task import RiskLevel, TaskRule, When

KEY = "task_rules"
CONDITIONS = ("coding", "risk_level")
"""What a rule can ask of a task; everything that it asks must hold."""
MOST_RULES = 1000
"""Every rule is looked at in every turn that has a task."""


@dataclass(frozen=True, slots=True)
class RulesRead:
    """The rules that can be used, in order, and what is wrong with the others."""

    rules: tuple[TaskRule, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def read_task_rules(data: Mapping[str, object], lines: Mapping[Keys, int], *, path: str, source: str) -> RulesRead:
    """The rules in a pack's data; one with a mistake is left out whole, as it would fire for other tasks."""
    findings = Findings(path, lines)
    entries = Fields(data, findings).entries(KEY) or []
    if len(entries) > MOST_RULES:
        told = f"`{KEY}` has {len(entries):,} rules; those after the first {MOST_RULES:,} are left out"
        findings.report(codes.TASK_RULE, (KEY, MOST_RULES), told, "let one rule name more skills, or make two packs")
    rules: list[TaskRule] = []
    found = findings.found
    for index, item in enumerate(entries[:MOST_RULES]):
        own = Findings(path, lines)
        entry = Fields(data, own).entry(item, KEY, index)
        rule = None if entry is None else _rule(entry, Location(path, own.line((KEY, index))), source)
        if rule is not None:
            rules.append(rule)
        found += own.costing(codes.TASK_RULE, "the rule")
    return RulesRead(tuple(rules), tuple(found))


def _rule(entry: Fields, location: Location, source: str) -> TaskRule | None:
    when, skills = _when(entry), _skills(entry)
    entry.report_unknown()
    return None if entry.findings.has_errors() else TaskRule(when, skills, source, location)


def _when(entry: Fields) -> When:
    conditions = entry.mapping("when")
    if conditions is None:
        if entry.absent("when"):
            _missing(entry, "when", "is missing, and a rule without it would fire for every task")
        return When()
    when = When(conditions.flag("coding"), _risk_levels(conditions))
    for key in conditions.rest():
        fix = f"ask for {' or '.join(CONDITIONS)}"
        conditions.report(codes.TASK_RULE, key, "is nothing that can be asked of a task", fix)
    if not any(key in conditions for key in CONDITIONS):
        _missing(entry, "when", "asks nothing of a task, so that the rule would fire for every one")
    for key in CONDITIONS:
        if key in conditions and conditions.absent(key):
            _missing(conditions, key, "is empty")
    return when


def _risk_levels(conditions: Fields) -> tuple[RiskLevel, ...]:
    if not isinstance(conditions.peek("risk_level"), list | tuple):
        level = conditions.choice("risk_level", RiskLevel)
        return () if level is None else (level,)
    known = {level.value: level for level in RiskLevel}
    names = conditions.names("risk_level") or ()
    if not names:
        _missing(conditions, "risk_level", "names no level")
    for name in names:
        if name not in known:
            message = f"names {name[:60]!r}, which is not a risk level"
            conditions.report(codes.TASK_RULE, "risk_level", message, f"use {', '.join(known)}")
    return tuple(known[name] for name in names if name in known)


def _skills(entry: Fields) -> tuple[str, ...]:
    names = read_skill_ids(entry, "skills", codes.TASK_RULE)
    if not names:
        _missing(entry, "skills", "names no skill to give")
    return names


def read_skill_ids(entry: Fields, key: str, code: Code) -> tuple[str, ...]:
    """The skills of a list by their ids; a name that an id can be made of is read as that, any other is a `code`."""
    return tuple(_skill_id(entry, key, name, code) for name in entry.names(key) or ())


def _skill_id(entry: Fields, key: str, name: str, code: Code) -> str:
    made = id_of(name)
    if not is_skill_id(made):
        entry.report(code, key, f"names {name[:60]!r}, which can be no skill's id", "write an id")
    elif made != name:
        message = f"names {name[:60]!r}; read as the id {made!r}"
        entry.report(codes.ID_REPAIRED, key, message, "write the id")
    return made


def _missing(fields: Fields, key: str, what: str) -> None:
    fix = {"when": "write for example `when: {coding: true}`", "skills": "list the ids of the skills"}
    fields.report(codes.TASK_RULE, key, what, fix.get(key, "state it, or remove the key"))
