"""Hypothesis strategies for our values: any legal skill, tricky texts included."""

from typing import cast

from hypothesis import strategies as st

from skillweave import Checkpoint, Skill, Status, ToolRules, Triggers
from skillweave.formats.identity import id_of
from skillweave.frozen import freeze_mapping
from skillweave.skill import Json
from skillweave.skills import ArtifactRef, CheckpointScope, OutputContract, Relation, RelationKind, RuleList, SkillText

TRICKY = (
    *("no", "off", "true", "null", "~", "1.0", "1.10", "0x1f", "0o17", "1e3", "1e999", ".inf", ".5", "1:30", "017"),
    *("2026-01-02", "---", "a --- b", "...", "a: b", "a:", "- a", "# a", "a # b", "@a", "`a`", "%a", "*a", "&a", "!a"),
    *("'", '"', "a 'b' \"c\"", "[a", "{a", "a, b", "<<", "=", "?", "? a", "|", ">-", " a ", "\ta", "a\n", "\na"),
    *("a\r\nb", "a\n\n  b\n", "a \nb", "\n---\nname: x\n---\n", "é", "e\u0301", "日本語", "😀"),
    *("\u2028", "\x85", "\ufeff", "\x00", "\x7f", "Bash(git add:*)", "Bash(a, b)", "a(", ")"),
    *("x-skillweave", "version", "domain_tags", "triggers"),
)
"""Texts that a careless reader or writer of YAML loses or changes."""

texts = st.one_of(st.sampled_from(TRICKY), st.text(max_size=20))
names = texts.filter(lambda text: bool(text.strip()))
ids = st.one_of(
    st.sampled_from(("a", "_", "-", "a--b", "A_b", "1")), st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)
)
name_lists = st.lists(names, max_size=3).map(tuple)
text_lists = st.lists(texts, max_size=3).map(tuple)
maybe_texts = st.none() | texts
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
json_values = cast(
    "st.SearchStrategy[Json]",
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=6,
    ),
)
json_mappings = st.dictionaries(texts, json_values, max_size=3).map(freeze_mapping)

triggers = st.builds(
    Triggers, keywords=name_lists, verbs=name_lists, patterns=name_lists, examples=name_lists, never=name_lists
)
contracts = st.builds(OutputContract, type=names, schema=st.none() | json_mappings)
skill_texts = st.builds(
    SkillText,
    details=maybe_texts,
    instructions=maybe_texts,
    steps=text_lists,
    requirements=text_lists,
    postconditions=text_lists,
    output_format=maybe_texts,
    output_contract=st.none() | contracts,
)
tool_rules = st.builds(ToolRules, allowed=st.none() | name_lists, forbidden=name_lists, preapproved=name_lists)
relations = st.builds(
    Relation,
    kind=st.sampled_from(RelationKind),
    skill=ids,
    reason=maybe_texts,
    list=st.sampled_from(RuleList),
)
checkpoints = st.builds(
    Checkpoint,
    name=names,
    before=maybe_texts,
    blocking=st.booleans(),
    reviewer=maybe_texts,
    asks=maybe_texts,
    scope=st.sampled_from(CheckpointScope),
)
artifacts = st.builds(
    ArtifactRef,
    id=names,
    name=texts,
    media_type=texts,
    size=st.integers(0, 2**40),
    content_hash=maybe_texts,
    token_estimate=st.none() | st.integers(0, 2**40),
)


WRITTEN = [one for one in Status if one is not Status.QUARANTINED]
"""The statuses that a file may have; a quarantine is of the process that holds a skill back."""


@st.composite
def identities(draw: st.DrawFn) -> tuple[str, str | None]:
    """An id, and the spelling of the name it was made from, where that is not an id or another one."""
    if draw(st.booleans()):
        return draw(ids), None
    spelling = draw(names)
    skill_id = draw(st.just(id_of(spelling)) | ids)
    return skill_id, None if skill_id == spelling else spelling


@st.composite
def skills(draw: st.DrawFn) -> Skill:
    """Any legal skill without origin and digest."""
    skill_id, spelling = draw(identities())
    return Skill(
        id=skill_id,
        spelling=spelling,
        name=draw(names),
        description=draw(names),
        version=draw(maybe_texts),
        status=draw(st.sampled_from(WRITTEN)),
        triggers=draw(triggers | st.just(Triggers())),
        domain_tags=draw(name_lists),
        text=draw(skill_texts),
        tools=draw(st.none() | st.just(ToolRules()) | tool_rules),
        relations=draw(st.lists(relations, max_size=3).map(tuple)),
        checkpoints=draw(st.lists(checkpoints, max_size=2).map(tuple)),
        emits=draw(name_lists),
        artifacts=draw(st.lists(artifacts, max_size=2).map(tuple)),
        license=draw(maybe_texts),
        compatibility=draw(maybe_texts),
        metadata=draw(json_mappings),
        extra=draw(json_mappings),
    )
