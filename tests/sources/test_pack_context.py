"""`context:` of a pack file: what is read, and what of a mistaken part is said and left out."""

from pathlib import Path

import pytest

from skillweave import Diagnostic, Severity
from skillweave.frozen import FrozenDict
from skillweave.knowledge.entity import Direction
from skillweave.knowledge.rules import ContextRules, Hop, IdPattern, SectionPart, SectionRule
from skillweave.registry import Loaded
from skillweave.sources import Pack

SKILLS = "skills:\n  - {id: berthing, description: Berths ships.}\n"
SHIPS = """context:
  entity_keys: [ship]
  aliases: {Ship: [name, imo]}
  locations: {Port: [position]}
  recognise:
    - {pattern: '\\bIMO ?(\\d{7})\\b', as: '{1}'}
  sections:
    entity:
      - {of: [Ship], render: ['Ship: {name} (IMO: {imo})', 'Flag: {flag}']}
    port:
      of: Ship
      path: [{via: CALLS_AT, direction: both, labels: [Port]}]
      where: {edge.days: {lte: 2.5}, node.open: {exists: true}}
      order: -edge.days
      limit: 3
      title: 'Ports:'
      render: '- {name}: {edge.days} days'
    voyages:
      - {each: voyages, last: 2, render: '- {month}: {miles} miles'}
  tags: {mooring: [entity, port]}
  otherwise: [entity]
"""


async def load(tmp_path: Path, context: str) -> Loaded:
    (tmp_path / "pack.yaml").write_text(f"{SKILLS}{context}", encoding="utf-8")
    return await Pack(tmp_path / "pack.yaml").load()


async def rules(tmp_path: Path, context: str) -> ContextRules:
    return ContextRules.from_dict((await load(tmp_path, context)).context)


async def findings(tmp_path: Path, context: str) -> tuple[Diagnostic, ...]:
    return (await load(tmp_path, context)).diagnostics


def section(text: str) -> str:
    return (
        f"context:\n  sections:\n    good: {{render: 'Ship: {{name}}'}}\n    bad: {text}\n  tags: {{a: [bad, good]}}\n"
    )


async def test_everything_that_is_said_is_read(tmp_path: Path) -> None:
    loaded = await load(tmp_path, SHIPS)
    assert loaded.diagnostics == ()
    assert ContextRules.from_dict(loaded.context) == ContextRules(
        sections=(
            SectionRule("entity", (SectionPart(("Ship: {name} (IMO: {imo})", "Flag: {flag}"), of=("Ship",)),)),
            SectionRule(
                "port",
                (
                    SectionPart(
                        ("- {name}: {edge.days} days",),
                        of=("Ship",),
                        title="Ports:",
                        path=(Hop("CALLS_AT", Direction.BOTH, ("Port",)),),
                        where=FrozenDict(
                            {"edge.days": FrozenDict({"lte": 2.5}), "node.open": FrozenDict({"exists": True})}
                        ),
                        order="-edge.days",
                        limit=3,
                    ),
                ),
            ),
            SectionRule("voyages", (SectionPart(("- {month}: {miles} miles",), each="voyages", last=2),)),
        ),
        tags={"mooring": ("entity", "port")},
        otherwise=("entity",),
        entity_keys=("ship",),
        aliases={"Ship": ("name", "imo")},
        locations={"Port": ("position",)},
        recognise=(IdPattern(r"\bIMO ?(\d{7})\b", "{1}"),),
    )


async def test_a_pack_without_it_says_nothing_about_entities(tmp_path: Path) -> None:
    assert (await load(tmp_path, "")).context is None


@pytest.mark.parametrize(
    ("part", "says", "fix"),
    [
        ("{}", "`context.sections.bad.render` is missing or empty", "write the line of a row"),
        ("'Ship: {name}'", "where a part is expected", "write a part as keys and values"),
        (
            "{render: 'Ship {name'}",
            "has a brace in 'Ship {name' that belongs to no field",
            "around the name of a field",
        ),
        ("{render: '{a..b}'}", "has 'a..b' in it, which names no field", "write the name of a field"),
        ("{render: '{edge.days}'}", "names `edge.days`, and without a `path`", "add `path`"),
        ("{render: '{item.month}'}", "names `item.month`, and without `each`", "add `each`"),
        ("{render: a, last: 2}", "`context.sections.bad.last` stands without `each`", "add `each`"),
        ("{render: a, limit: 0}", "`context.sections.bad.limit` is 0", "a whole number from 1 on"),
        ("{render: a, limit: 1001}", "`context.sections.bad.limit` is 1,001", "at most 1,000"),
        ("{render: a, where: {flag: {eq: x}}}", "compares `flag`, which does not say where", "write `node.flag`"),
        ("{render: a, where: {node.flag: {equals: x}}}", "'equals' is not an operator", "the operators are"),
        ("{render: a, where: {node.flag: {exists: 2}}}", "asks `exists: 2`", "write true or false"),
        ("{render: a, wher: {node.flag: {eq: x}}}", "`context.sections.bad.wher` means nothing here", "mean 'where'?"),
        ("{render: a, path: [{direction: out}]}", "path[0].via` is missing or empty", "name the relation"),
        ("{render: a, path: [{via: A, direction: up}]}", "path[0].direction` is 'up'", "one of out, in, both"),
        ("{render: a, title: 'Of {name}'}", "`context.sections.bad.title` is no plain line", "without fields"),
        (
            "[{render: a}, {render: b, order: '.'}]",
            "`context.sections.bad[1].order` has '.' in it",
            "the name of a field",
        ),
    ],
)
async def test_a_mistake_costs_its_section_and_no_other(tmp_path: Path, part: str, says: str, fix: str) -> None:
    loaded = await load(tmp_path, section(part))
    errors = [found for found in loaded.diagnostics if found.severity is Severity.ERROR]
    assert [found.code for found in errors] == ["bad-context"]
    assert says in errors[0].message and errors[0].message.endswith("the section 'bad' is left out")
    assert fix in errors[0].fix
    assert errors[0].location is not None and errors[0].location.line == 6
    left = ContextRules.from_dict(loaded.context)
    assert (left.names, dict(left.tags)) == (("good",), {"a": ("good",)})


async def test_a_tag_names_sections_that_there_are(tmp_path: Path) -> None:
    (found,) = await findings(tmp_path, "context:\n  sections: {entity: {render: a}}\n  tags: {a: [entiti]}\n")
    assert (found.code, found.line) == ("bad-context", 5)
    assert "`context.tags.a` names 'entiti', which is no section" in found.message
    assert found.fix == "did you mean 'entity'? else write one of entity"


async def test_a_key_that_means_nothing_is_reported_with_the_one_that_was_meant(tmp_path: Path) -> None:
    (found,) = await findings(tmp_path, "context:\n  section: {entity: {render: a}}\n")
    assert (found.code, found.message) == ("unknown-key", "`context.section` means nothing in `context`")
    assert "did you mean 'sections'?" in found.fix


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("{pattern: '(a'}", "`context.recognise[0].pattern` cannot be used"),
        ("{pattern: 'a*'}", "it matches empty text"),
        ("{pattern: '(?=a)'}", "cannot be used"),
        ("{pattern: 'a', as: '{1}'}", "`context.recognise[0].as` names the group '1'"),
        ("{pattern: 'a(?P<n>b)', as: '{m}'}", "names the group 'm'"),
        ("{pattern: 'a(b)', as: '{1'}", "has a brace that belongs to no group"),
        ("{as: '{1}'}", "`context.recognise[0].pattern` is missing or empty"),
    ],
)
async def test_a_pattern_that_cannot_be_used_is_left_out_alone(tmp_path: Path, pattern: str, says: str) -> None:
    loaded = await load(tmp_path, f"context:\n  recognise:\n    - {pattern}\n    - {{pattern: 'ok'}}\n")
    (found,) = loaded.diagnostics
    assert found.code == "bad-context"
    assert says in found.message
    assert found.message.endswith("the pattern is left out")
    assert ContextRules.from_dict(loaded.context).recognise == (IdPattern("ok"),)


async def test_what_is_no_mapping_is_said_and_nothing_is_read(tmp_path: Path) -> None:
    loaded = await load(tmp_path, "context: [entity]\n")
    assert ([found.code for found in loaded.diagnostics], loaded.context) == (["bad-value"], None)


async def test_a_broken_edit_leaves_what_was_read_before_in_use(tmp_path: Path) -> None:
    from skillweave import Registry

    (tmp_path / "pack.yaml").write_text(f"{SKILLS}{SHIPS}", encoding="utf-8")
    registry = Registry([Pack(tmp_path / "pack.yaml")])
    await registry.refresh()
    before = registry.snapshot.context
    (tmp_path / "pack.yaml").write_text(f"{SKILLS}{section('{}')}", encoding="utf-8")
    await registry.refresh()
    assert registry.snapshot.context == before
    assert "kept-last-good" in {found.code for found in registry.snapshot.diagnostics}


async def test_a_change_of_it_alone_is_a_new_snapshot(tmp_path: Path) -> None:
    from skillweave import Registry

    (tmp_path / "pack.yaml").write_text(f"{SKILLS}{SHIPS}", encoding="utf-8")
    registry = Registry([Pack(tmp_path / "pack.yaml")])
    await registry.refresh()
    (tmp_path / "pack.yaml").write_text(f"{SKILLS}{SHIPS.replace('Flag:', 'Under')}", encoding="utf-8")
    assert await registry.refresh()


async def test_of_two_sources_the_first_one_says_it(tmp_path: Path) -> None:
    from skillweave import Registry

    for name, flag in (("a", "Flag"), ("b", "Banner")):
        skills = SKILLS.replace("berthing", name)
        (tmp_path / f"{name}.yaml").write_text(f"{skills}{SHIPS.replace('Flag', flag)}", encoding="utf-8")
    registry = Registry([Pack(tmp_path / "a.yaml"), Pack(tmp_path / "b.yaml")])
    await registry.refresh()
    assert "Flag" in str(registry.snapshot.context)
    assert [found.code for found in registry.snapshot.diagnostics] == ["context-ignored"]
