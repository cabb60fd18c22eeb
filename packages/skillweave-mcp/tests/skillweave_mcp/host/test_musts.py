"""What a host must do (facts of the extension): one test for each rule, against a real server."""

from pathlib import Path

import pytest
from tests.skillweave_mcp.host.hostile import FORM, SKILL, TEXT, Hostile, entry_of, hostile_at

import skillweave
from skillweave import Ruling, ToolRules
from skillweave.errors import ArtifactNotFound
from skillweave_mcp.host.approvals import Approvals
from skillweave_mcp.host.connection import server_of
from skillweave_mcp.host.held import Unfit
from skillweave_mcp.host.source import McpSource


def source_at(address: str, folder: Path, label: str = "docs") -> McpSource:
    return McpSource(server_of("mcp+http", address), label=label, approvals=Approvals(folder / "approvals.json"))


async def test_nothing_is_fetched_when_skills_are_listed_or_approved(tmp_path: Path) -> None:
    hostile = Hostile()
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        source.approve(skill)
        await source.load()
    assert {method for method, _ in hostile.asked} == {"skills/list"}


async def test_a_skill_is_known_by_our_label_of_the_server_and_its_uri(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        one, other = source_at(address, tmp_path, "one"), source_at(address, tmp_path, "two")
        (first,), (second,) = (await one.load()).skills, (await other.load()).skills
        one.approve(first)
        assert first.id != second.id
        with pytest.raises(ArtifactNotFound, match="nobody approved it"):
            await other.read(second, "SKILL.md")


async def test_a_skill_that_nobody_approved_is_not_read(tmp_path: Path) -> None:
    hostile = Hostile()
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        with pytest.raises(ArtifactNotFound, match="skillweave mcp --skills"):
            await source.read(skill, "SKILL.md")
    assert ("resources/read", SKILL) not in hostile.asked


async def test_an_approved_file_is_read_and_verified(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        source.approve(skill)
        assert await source.read(skill, "SKILL.md") == TEXT.encode()
        assert await source.read(skill, "references/form.md") == b"a form"


@pytest.mark.parametrize(
    ("data", "why"), [(b"a form!", "has 7 bytes, and its entry says 6"), (b"A FORM", "its digest is not the one")]
)
async def test_a_file_of_another_size_or_digest_is_not_used(tmp_path: Path, data: bytes, why: str) -> None:
    hostile = Hostile()
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        source.approve(skill)
        hostile.contents[FORM] = data
        with pytest.raises(ArtifactNotFound, match=why):
            await source.read(skill, "references/form.md")


@pytest.mark.parametrize(
    "front",
    [
        {"name": "greeting", "description": "Greets.", "allowed-tools": "read bash"},
        {"name": "greeting", "description": "Greets.", "allowed-tools": "Read Bash", "more": True},
        {"name": "greeting", "description": "Greets."},
    ],
)
async def test_front_matter_that_differs_in_any_field_is_not_used(tmp_path: Path, front: dict[str, object]) -> None:
    async with hostile_at(Hostile(pages=lambda _: ([entry_of(frontmatter=front)], None))) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        source.approve(skill)
        with pytest.raises(ArtifactNotFound, match="front matter says something else"):
            await source.read(skill, "SKILL.md")


async def test_a_file_that_the_held_entry_does_not_list_is_not_read(tmp_path: Path) -> None:
    hostile = Hostile(contents={SKILL: TEXT.encode(), "skill://greeting/new.md": b"new"})
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        source.approve(skill)
        with pytest.raises(ArtifactNotFound, match="does not list that file"):
            await source.read(skill, "new.md")
    assert ("resources/read", "skill://greeting/new.md") not in hostile.asked


async def test_a_newer_entry_does_not_widen_what_a_held_one_allows(tmp_path: Path) -> None:
    hostile = Hostile()
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        (held,) = (await source.load()).skills
        source.approve(held)
        more = {SKILL: TEXT.encode(), FORM: b"a form", "skill://greeting/new.md": b"new"}
        hostile.pages = lambda _: ([entry_of(files=more)], None)
        await source.load()
        with pytest.raises(ArtifactNotFound, match="does not list"):
            await source.read(held, "new.md")


@pytest.mark.parametrize(
    "files",
    [
        {SKILL: TEXT.encode(), FORM: b"b form"},
        {SKILL: TEXT.encode()},
        {SKILL: TEXT.encode(), FORM: b"a form", "skill://greeting/new.md": b"new"},
    ],
)
async def test_other_files_end_an_approval(tmp_path: Path, files: dict[str, bytes]) -> None:
    hostile = Hostile()
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        (before,) = (await source.load()).skills
        source.approve(before)
        hostile.pages = lambda _: ([entry_of(files=files)], None)
        (now,) = (await source.load()).skills
        with pytest.raises(ArtifactNotFound, match="nobody approved it as it is"):
            await source.read(now, "SKILL.md")


async def test_an_approval_holds_in_another_process(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        first = source_at(address, tmp_path)
        first.approve((await first.load()).skills[0])
        second = source_at(address, tmp_path)
        assert await second.read((await second.load()).skills[0], "SKILL.md") == TEXT.encode()


async def test_the_file_of_approvals_is_its_owners_alone(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        source = source_at(address, tmp_path)
        source.approve((await source.load()).skills[0])
    assert (tmp_path / "approvals.json").stat().st_mode & 0o077 == 0


async def test_dynamic_skills_are_named_and_left_out(tmp_path: Path) -> None:
    async with hostile_at(Hostile(pages=lambda _: ([entry_of(resources="dynamic")], None))) as address:
        loaded = await source_at(address, tmp_path).load()
    assert loaded.skills == ()
    assert "no approval can be bound" in loaded.diagnostics[0].message


async def test_allowed_tools_count_for_nothing_until_they_are_granted(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        assert skill.tools is None
        source.approve(skill)
        assert (await source.load()).skills[0].tools is None
        source.approve(skill, tools=True)
        assert (await source.load()).skills[0].tools == ToolRules(preapproved=("Read", "Bash"))


async def test_the_model_sees_where_a_skill_comes_from(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        weaver = skillweave.open(source_at(address, tmp_path))
        answer = await weaver.tools.read_skill("docs__greeting", conversation="c1")
        assert "MCP server docs" in await weaver.skills.catalog()
    assert "comes from MCP server docs" in answer.text
    assert "Say hello" not in answer.text


async def test_what_a_model_reads_is_the_verified_text(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        source = source_at(address, tmp_path)
        source.approve((await source.load()).skills[0])
        weaver = skillweave.open(source)
        answer = await weaver.tools.read_artifact("docs__greeting", "SKILL.md", conversation="c1")
    assert "Say hello." in answer.text
    assert "docs" in answer.text


async def test_skills_of_one_name_do_not_take_each_others_place(tmp_path: Path) -> None:
    from tests.skill_folders import write_skill

    write_skill(tmp_path / "skills" / "greeting")
    other = "skill://more/greeting/SKILL.md"
    two = [entry_of(), entry_of(other, {other: TEXT.encode()})]
    async with hostile_at(Hostile(pages=lambda _: (two, None))) as address:
        weaver = skillweave.open(source_at(address, tmp_path), tmp_path / "skills")
        found = await weaver.skills.snapshot()
    assert sorted(found) == ["docs__greeting", "docs__more-greeting", "greeting"]
    assert found.shadowed == ()


async def test_a_nested_skill_needs_a_yes_of_its_own(tmp_path: Path) -> None:
    inner = "skill://greeting/inner/greeting/SKILL.md"
    outer = {SKILL: TEXT.encode(), inner: TEXT.encode()}
    pages = [entry_of(files=outer), entry_of(inner, {inner: TEXT.encode()})]
    async with hostile_at(Hostile(lambda _: (pages, None), dict(outer))) as address:
        source = source_at(address, tmp_path)
        skills = {one.origin.location: one for one in (await source.load()).skills if one.origin}
        source.approve(skills[SKILL])
        assert await source.read(skills[SKILL], "inner/greeting/SKILL.md") == TEXT.encode()
        with pytest.raises(ArtifactNotFound, match="nobody approved"):
            await source.read(skills[inner], "SKILL.md")


async def test_calls_that_execute_code_ask_a_person_while_a_skill_is_at_work(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        weaver = skillweave.open(source_at(address, tmp_path))
        await weaver.tools.read_skill("docs__greeting", conversation="c1")
        policy = await weaver.current_policy("c1")
        verdict = await weaver.authorize(policy, "Bash", {"command": "ls"})
        free = await weaver.authorize(policy, "Read", {"path": "x"})
    assert verdict.ruling is Ruling.ASK
    assert free.ruling is Ruling.ALLOW


async def test_a_skill_that_is_not_listed_is_opened_by_its_uri(tmp_path: Path) -> None:
    hostile = Hostile(pages=lambda cursor: ([entry_of()], None))
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        skill = await source.open(SKILL)
        source.approve(skill)
        assert await source.read(skill, "SKILL.md") == TEXT.encode()


async def test_an_answer_about_another_skill_opens_nothing(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        with pytest.raises(Unfit, match="about another skill"):
            await source_at(address, tmp_path).open("skill://other/SKILL.md")


async def test_what_was_read_is_hashed_again_before_it_is_used_again(tmp_path: Path) -> None:
    hostile = Hostile()
    async with hostile_at(hostile) as address:
        source = source_at(address, tmp_path)
        (skill,) = (await source.load()).skills
        source.approve(skill)
        await source.read(skill, "SKILL.md")
        for key in source._cache:
            source._cache[key] = b"tampered"
        assert await source.read(skill, "SKILL.md") == TEXT.encode()
    assert hostile.asked.count(("resources/read", SKILL)) == 2


async def test_reads_go_to_the_server_that_the_skill_is_from(tmp_path: Path) -> None:
    ours, theirs = Hostile(), Hostile()
    async with hostile_at(ours) as one, hostile_at(theirs) as other:
        source, stranger = source_at(one, tmp_path, "one"), source_at(other, tmp_path, "two")
        (skill,) = (await source.load()).skills
        await stranger.load()
        source.approve(skill)
        await source.read(skill, "SKILL.md")
        with pytest.raises(ArtifactNotFound, match="not from this server"):
            await stranger.read(skill, "SKILL.md")
    assert [method for method, _ in theirs.asked] == ["skills/list"]
