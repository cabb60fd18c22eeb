"""Keys that hosts of public skills read, from every spelling and from code."""

from pathlib import Path

import pytest

from skillweave import Severity, Skill
from skillweave.formats.host_keys import BY_ALL, Invocation, invocation_of, when_to_use_of
from skillweave.formats.native import from_dict
from skillweave.formats.skill_md import read_skill_md
from skillweave.frozen import freeze_mapping
from skillweave.registry import define
from skillweave.skill import Json

NEITHER = Invocation(by_model=False, by_user=False)


def holding(**extra: Json) -> Skill:
    return Skill("a", "A", "What it does.", extra=freeze_mapping({key.replace("__", "-"): extra[key] for key in extra}))


def test_a_skill_without_such_keys_is_open_to_all() -> None:
    assert invocation_of(holding()) == invocation_of(holding(model="opus")) == BY_ALL


@pytest.mark.parametrize("written", ["true", "True", "TRUE", True])
def test_a_skill_may_be_closed_to_the_model(written: Json) -> None:
    skill = holding(disable__model__invocation=written)
    assert invocation_of(skill) == Invocation(by_model=False, by_user=True)


@pytest.mark.parametrize("written", ["false", "False", "FALSE", False])
def test_a_skill_may_be_closed_to_mentions(written: Json) -> None:
    assert invocation_of(holding(user__invocable=written)) == Invocation(by_model=True, by_user=False)


@pytest.mark.parametrize("written", ["false", "true"])
def test_the_value_that_closes_nothing_leaves_the_skill_open(written: str) -> None:
    key = "disable__model__invocation" if written == "false" else "user__invocable"
    assert invocation_of(holding(**{key: written})) == BY_ALL


@pytest.mark.parametrize("written", ["no", "yes", "", "1", " true", 1, 0, None, [], ["true"], {"a": "true"}])
def test_any_other_value_counts_as_the_safer_reading(written: Json) -> None:
    assert invocation_of(holding(disable__model__invocation=written, user__invocable=written)) == NEITHER


def test_underscores_spell_the_keys_too_and_the_safer_of_both_spellings_counts() -> None:
    assert invocation_of(holding(disable_model_invocation="true", user_invocable="false")) == NEITHER
    both = holding(user_invocable="true", user__invocable="false")
    assert invocation_of(both) == Invocation(by_model=True, by_user=False)


def test_when_to_use_is_one_text_or_a_list_of_texts() -> None:
    assert when_to_use_of(holding(when_to_use="Before winter")) == "Before winter"
    assert when_to_use_of(holding(when__to__use=["before winter", "in June"])) == "before winter\nin June"
    assert when_to_use_of(holding(when_to_use={"a": "b"})) == when_to_use_of(holding(when_to_use=["a", 1])) == ""
    assert when_to_use_of(holding()) == ""


def test_a_value_that_means_nothing_is_found_with_its_line_its_key_and_a_fix() -> None:
    data = b"---\nname: a\ndescription: d\nuser-invocable: maybe\nwhen_to_use: {a: b}\n---\nBody.\n"
    read = read_skill_md(data, path="a/SKILL.md", folder="a", source="s")
    flag, use = read.diagnostics
    assert (flag.code, flag.severity, flag.skill, str(flag.location)) == (
        "host-key",
        Severity.WARNING,
        "a",
        "a/SKILL.md:4",
    )
    assert flag.message == (
        "`user-invocable` is 'maybe', neither true nor false; read as false: no mention selects the skill"
    )
    assert flag.fix == "write true or false"
    assert (str(use.location), use.message) == (
        "a/SKILL.md:5",
        "`when_to_use` is a mapping, not text; it is not searched",
    )


def test_values_that_mean_something_are_no_findings() -> None:
    data = b"---\nname: a\ndescription: d\nuser-invocable: false\ndisable-model-invocation: true # why\n---\nBody.\n"
    read = read_skill_md(data, path="a/SKILL.md", folder="a", source="s")
    assert read.diagnostics == ()
    assert read.skill is not None and invocation_of(read.skill) == NEITHER


def test_a_definition_in_code_is_read_alike() -> None:
    skill = from_dict({"id": "a", "description": "d", "disable-model-invocation": True, "user-invocable": "false"})
    assert invocation_of(skill) == NEITHER


def test_a_skill_made_in_code_is_checked_where_it_is_registered() -> None:
    (found,) = define(holding(user__invocable="maybe"), "code").diagnostics
    assert (found.code, found.skill, str(found.location)) == ("host-key", "a", "code")


def test_real_skills_use_each_key_and_every_one_of_their_values_means_something(skills_sample: Path) -> None:
    reads = [
        read_skill_md(path.read_bytes(), path=str(path), folder=path.parent.name, source="sample")
        for path in sorted(skills_sample.glob("*/*/SKILL.md"))
    ]
    skills = [read.skill for read in reads if read.skill is not None]
    invocations = [invocation_of(skill) for skill in skills]
    closed_to_model = sum(not each.by_model for each in invocations)
    closed_to_user = sum(not each.by_user for each in invocations)
    searched = sum(bool(when_to_use_of(skill)) for skill in skills)
    assert (closed_to_model, closed_to_user, searched) == (3, 21, 7)
    assert [found for read in reads for found in read.diagnostics if found.code == "host-key"] == []
