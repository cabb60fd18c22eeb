"""What is found wrong with triggers and descriptions, in a pack that was broken on purpose."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.skillweave_eval.libraries import COFFEE, TEA, case, skill, weaver_of

import skillweave
from skillweave import Diagnostic, Severity, Skill
from skillweave_eval.findings import findings_on

BROKEN = skill(
    "invoices",
    "Checks supplier invoices against purchase orders and flags wrong totals.",
    keywords=["invoice"],
    examples=["Is this invoice right?"],
    never=["invoice"],
)
COMPETING = (
    skill("release", "Plans a software release with rollback steps and a checklist.", keywords=["release plan"]),
    skill("rollout", "Plans a software release with a checklist and rollback steps.", keywords=["release plan"]),
)
DEAD = skill("stuff", "Helps with things.")
PACK = (BROKEN, *COMPETING, DEAD, TEA, COFFEE)


async def found_in(*skills: Skill, queries: Sequence[str] = (), expect: str = "") -> dict[str, list[Diagnostic]]:
    cases = [case(query, [expect]) for query in queries]
    found: dict[str, list[Diagnostic]] = {}
    for one in await findings_on(weaver_of(*skills), cases):
        found.setdefault(one.code, []).append(one)
    return found


async def test_in_the_broken_pack_each_defect_is_found_and_nothing_else() -> None:
    found = await found_in(*PACK)
    assert {code: sorted({one.skill or "" for one in each}) for code, each in found.items()} == {
        "broken-trigger": ["invoices"],
        "shared-trigger": ["release"],
        "alike-descriptions": ["release"],
        "unspecific-description": ["stuff"],
    }


async def test_sound_skills_have_no_findings() -> None:
    assert await found_in(TEA, COFFEE) == {}


async def test_a_keyword_and_an_example_that_do_not_select_are_errors_that_say_why() -> None:
    found = (await found_in(BROKEN, TEA))["broken-trigger"]
    assert [one.severity for one in found] == [Severity.ERROR, Severity.ERROR]
    assert found[0].message == (
        "the keyword 'invoice' does not select 'invoices': one of its `never` phrases is in the message"
    )
    assert "the example 'Is this invoice right?'" in found[1].message


async def test_an_example_that_selects_another_skill_names_it() -> None:
    other = skill("cocoa", "Stirs cocoa powder into hot milk.", examples=["A cup of tea with cocoa"])
    (found,) = (await found_in(other, TEA))["broken-trigger"]
    assert "it selects 'tea'" in found.message


async def test_a_pattern_that_cannot_be_compiled_is_found() -> None:
    broken = skill("invoices", "Checks supplier invoices against orders.", patterns=["invoice [0-9"])
    assert (await found_in(broken))["broken-pattern"][0].skill == "invoices"


async def test_a_pattern_that_no_example_and_no_test_matches_is_noted() -> None:
    numbered = skill("invoices", "Checks supplier invoices against orders.", patterns=["invoice [0-9]+"])
    assert "unproven-pattern" not in await found_in(numbered)
    assert "unproven-pattern" not in await found_in(numbered, queries=["See invoice 7"], expect="invoices")
    (found,) = (await found_in(numbered, queries=["See the invoice"], expect="invoices"))["unproven-pattern"]
    assert found.severity is Severity.INFO


async def test_a_keyword_of_several_skills_names_them_all() -> None:
    (found,) = (await found_in(*COMPETING))["shared-trigger"]
    assert "'release', 'rollout'" in found.message


async def test_an_empty_description_is_unspecific() -> None:
    assert (await found_in(skill("stuff", ""), TEA))["unspecific-description"][0].skill == "stuff"


async def test_a_word_that_all_descriptions_have_tells_nothing() -> None:
    many = [skill(f"s{number}", f"Formats {word} reports quickly.") for number, word in enumerate("abcdefghijkl")]
    assert len((await found_in(*many))["unspecific-description"]) == 12


async def test_a_description_that_leads_to_others_is_dead() -> None:
    drinks = skill("drinks", "Prefers tea over coffee where guests arrive late.")
    (found,) = (await found_in(drinks, TEA, COFFEE))["dead-description"]
    assert found.message == "the description of 'drinks' does not lead to it: it leads to 'coffee', 'tea'"


async def test_what_a_description_says_of_another_skill_is_not_held_against_it() -> None:
    pointing = skill("tea-ceremony", "Performs a Japanese ceremony for guests. For plain cups use coffee-bar instead.")
    bar = skill("coffee-bar", "Runs an espresso bar with grinders.")
    assert "dead-description" not in await found_in(pointing, bar)


async def test_a_skill_that_is_closed_to_the_model_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: secret\ndescription: x\ndisable-model-invocation: true\n---\nDo.\n")
    assert await findings_on(skillweave.open(tmp_path)) == ()


@pytest.mark.parametrize("real", ["skills_sample"])
async def test_public_skills_that_are_nearly_the_same_are_found(real: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(real)
    alike = [one.message for one in await findings_on(skillweave.open(folder)) if one.code == "alike-descriptions"]
    assert any("observability-edot-java-instrument" in message for message in alike)
