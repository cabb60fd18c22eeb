"""Servers that mean harm or fail: each costs one diagnostic, a bounded time, and no other source's skills."""

import asyncio
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, StreamingResponse
from starlette.routing import Route
from tests.skillweave_mcp.host.hostile import FORM, SKILL, TEXT, Hostile, entry_of, file_of, hostile_at
from tests.skillweave_mcp.serving_in_tests import listening

import skillweave
from skillweave.errors import ArtifactNotFound, InvalidValue
from skillweave.registry import Loaded
from skillweave.sources import source_of
from skillweave_mcp.host import connection
from skillweave_mcp.host.approvals import Approvals
from skillweave_mcp.host.connection import Server, server_of
from skillweave_mcp.host.held import Unfit, held_entry
from skillweave_mcp.host.source import McpSource
from tests.skill_folders import write_skill


async def loaded_from(hostile: Hostile, folder: Path) -> Loaded:
    async with hostile_at(hostile) as address:
        source = McpSource(server_of("mcp+http", address), label="docs", approvals=Approvals(folder / "a.json"))
        return await source.load()


def changed(**file: Any) -> dict[str, Any]:
    return entry_of(resources=[file_of(SKILL, TEXT.encode()), {**file_of(FORM, b"a form"), **file}])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (None, "no object"),
        (entry_of(uri="skill://greeting"), "no URI of a SKILL.md"),
        (entry_of(uri="skill://greeting/SKILL.md?x"), "no URI of a SKILL.md"),
        (entry_of(uri="skill://" + "a" * 5000 + "/SKILL.md"), "no URI of a SKILL.md"),
        (entry_of(uri="skill://other/SKILL.md"), "not called like the skill"),
        (entry_of(frontmatter={"name": "greeting"}), "lacks `name` or `description`"),
        (entry_of(frontmatter={"name": "Greeting", "description": "x"}), "has capital letters"),
        (entry_of(frontmatter={"name": "greeting", "description": "x" * 70_000}), "at most 64 KiB"),
        (entry_of(resources=None), "neither a list nor `dynamic`"),
        (entry_of(resources=[file_of(FORM, b"")]), "does not list its SKILL.md"),
        (entry_of(resources=[file_of(SKILL, b"")] * 2), "twice"),
        (entry_of(resources=[file_of(f"skill://greeting/{n}", b"") for n in range(513)]), "513 files"),
        (changed(size=17 << 20), "at most 16 MiB"),
        (changed(size=-1), "no digest"),
        (changed(size=True), "no digest"),
        (changed(digest="sha256:" + "A" * 64), "no digest"),
        (changed(digest="md5:0"), "no digest"),
        (changed(uri="skill://greeting/../other/x"), "no file in its folder"),
        (changed(uri="skill://greeting/%2e%2e/other"), "no file in its folder"),
        (changed(uri="skill://greeting/a%2F..%2F..%2Fx"), "no file in its folder"),
        (changed(uri="skill://greeting//etc/passwd"), "no file in its folder"),
        (changed(uri="skill://other/form.md"), "no file in its folder"),
        (changed(uri="file:///etc/passwd"), "no file in its folder"),
        (changed(uri="skill://greeting/a%5Cb"), "no file in its folder"),
        (changed(uri="skill://greeting/a%0Ab"), "no file in its folder"),
        (changed(uri="/etc/passwd"), "without a plain URI"),
        (changed(uri=7), "without a plain URI"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_unfit(entry: object, why: str) -> None:
    with pytest.raises(Unfit, match=why):
        held_entry("docs", entry)


async def test_entries_that_break_rules_cost_one_finding_and_no_other_skill(tmp_path: Path) -> None:
    bad = [{**entry_of(), "uri": number} for number in range(200)]
    loaded = await loaded_from(Hostile(pages=lambda _: ([*bad, entry_of()], None)), tmp_path)
    assert [one.id for one in loaded.skills] == ["docs__greeting"]
    assert len(loaded.diagnostics) == 1
    assert "200 skills" in loaded.diagnostics[0].message
    assert len(loaded.diagnostics[0].message) < 5_000


async def test_the_digests_of_another_skills_files_do_not_pass(tmp_path: Path) -> None:
    hostile = Hostile(contents={SKILL: TEXT.encode(), FORM: TEXT.encode()})
    async with hostile_at(hostile) as address:
        source = McpSource(server_of("mcp+http", address), approvals=Approvals(tmp_path / "a.json"))
        (skill,) = (await source.load()).skills
        source.approve(skill)
        with pytest.raises(ArtifactNotFound, match="sent something else"):
            await source.read(skill, "references/form.md")


@pytest.mark.parametrize("pages", [lambda n: ([], str(n + 1)), lambda _: ([], "1")], ids=["endless", "in a circle"])
async def test_pages_without_an_end_are_given_up(
    tmp_path: Path, pages: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MOST_PAGES", 50)
    hostile = Hostile(pages=pages)
    loaded = await loaded_from(hostile, tmp_path)
    assert len(hostile.asked) <= 50
    assert "cannot be listed" in loaded.diagnostics[0].message


async def test_a_listing_of_too_many_skills_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_SKILLS", 100)
    loaded = await loaded_from(Hostile(pages=lambda n: ([entry_of()] * 60, str(n + 1))), tmp_path)
    assert "no more are read" in loaded.diagnostics[0].message


async def test_a_server_that_waits_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.3)
    loaded = await asyncio.wait_for(loaded_from(Hostile(wait=5.0), tmp_path), 8)
    assert loaded.skills == ()
    assert "cannot be listed" in loaded.diagnostics[0].message


async def test_a_server_that_is_gone_keeps_no_other_source_from_its_skills(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "local")
    weaver = skillweave.open("mcp+http://127.0.0.1:1/mcp", tmp_path / "skills")
    found = await weaver.skills.snapshot()
    assert list(found) == ["local"]
    assert [one.code for one in found.diagnostics] == ["mcp-server"]


async def test_a_server_that_goes_away_keeps_its_skills_and_says_so(tmp_path: Path) -> None:
    async with hostile_at(Hostile()) as address:
        source = McpSource(server_of("mcp+http", address), label="docs", approvals=Approvals(tmp_path / "a.json"))
        before = await source.load()
    after = await source.load(before)
    assert after.skills == before.skills
    assert len(after.diagnostics) == 1


async def test_a_server_without_the_extension_is_named(tmp_path: Path) -> None:
    loaded = await loaded_from(Hostile(extension=False), tmp_path)
    assert "does not declare the extension" in loaded.diagnostics[0].message


async def endless(_: Request) -> StreamingResponse:
    async def pieces() -> Any:
        for _ in range(1024):
            yield b" " * (1 << 20)

    return StreamingResponse(pieces(), media_type="application/json")


async def test_an_answer_of_a_gigabyte_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_ANSWER_BYTES", 4 << 20)
    app = Starlette(routes=[Route("/mcp", endless, methods=["POST", "GET"])])
    tracemalloc.start()
    async with listening(app) as address:
        source = McpSource(Server(f"{address}/mcp"), approvals=Approvals(tmp_path / "a.json"))
        loaded = await asyncio.wait_for(source.load(), 30)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert loaded.skills == ()
    assert most < 64 << 20


async def test_a_redirect_to_another_host_is_not_followed(tmp_path: Path) -> None:
    target = Hostile()
    async with hostile_at(target) as elsewhere:

        async def away(_: Request) -> RedirectResponse:
            return RedirectResponse(f"http://{elsewhere}", 307)

        async with listening(Starlette(routes=[Route("/mcp", away, methods=["POST", "GET"])])) as address:
            source = McpSource(Server(f"{address}/mcp"), approvals=Approvals(tmp_path / "a.json"))
            loaded = await source.load()
    assert loaded.skills == ()
    assert target.asked == []


@pytest.mark.parametrize(
    ("program", "why"),
    [("raise SystemExit(3)", "cannot be listed"), ("print('hello', flush=True); input()", "cannot be listed")],
)
async def test_a_command_that_speaks_no_mcp_is_named(
    tmp_path: Path, program: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(connection, "START_SECONDS", 0.5)
    source = McpSource(Server(command=(sys.executable, "-c", program)), approvals=Approvals(tmp_path / "a.json"))
    loaded = await asyncio.wait_for(source.load(), 20)
    assert why in loaded.diagnostics[0].message


async def test_a_line_without_an_end_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_ANSWER_BYTES", 1 << 20)
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 5.0)
    program = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    source = McpSource(Server(command=(sys.executable, "-c", program)), approvals=Approvals(tmp_path / "a.json"))
    loaded = await asyncio.wait_for(source.load(), 20)
    assert loaded.skills == ()


async def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    source = McpSource(Server(command=("no-such-command-here",)), approvals=Approvals(tmp_path / "a.json"))
    assert "cannot be talked to" in (await source.load()).diagnostics[0].message


@pytest.mark.parametrize("address", ["mcp+http://example.com/mcp", "mcp+stdio:", "mcp+stdio:'x", "mcp+https:///mcp"])
def test_an_address_that_is_no_servers_is_refused(address: str) -> None:
    with pytest.raises(InvalidValue):
        source_of(address)


def test_a_command_with_arguments_is_a_source() -> None:
    found = source_of("mcp+stdio:skillweave mcp --skills 'my skills'")
    assert isinstance(found, McpSource)
    assert found.server.command == ("skillweave", "mcp", "--skills", "my skills")
