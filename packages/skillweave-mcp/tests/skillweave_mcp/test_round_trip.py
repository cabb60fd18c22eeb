"""Public skills served over HTTP and read back by the host: the same bytes, or a finding that says why not."""

import asyncio
from pathlib import Path

import pytest
from tests.skillweave_mcp.serving_in_tests import listening

import skillweave
from skillweave.manifest import sha256_of
from skillweave_mcp import Desk, Visitor
from skillweave_mcp.host.approvals import Approvals
from skillweave_mcp.host.connection import Server
from skillweave_mcp.host.source import McpSource
from skillweave_mcp.serving import http_app

AT_ONCE = 8


@pytest.mark.soak
async def test_public_skills_come_back_with_the_same_digests_or_are_named(skills_sample: Path, tmp_path: Path) -> None:
    repositories = await asyncio.to_thread(lambda: sorted(one for one in skills_sample.iterdir() if one.is_dir()))
    weaver = skillweave.open(*repositories, precedence="namespace")  # type: ignore[arg-type]
    snapshot = await weaver.skills.snapshot()
    shelf = await Desk(weaver).shelf(Visitor())
    named = {one.skill for one in shelf.findings}
    async with listening(http_app(weaver)) as address:
        source = McpSource(Server(f"{address}/mcp"), approvals=Approvals(tmp_path / "approvals.json"))
        loaded = await source.load()
        assert loaded.diagnostics == ()
        places = asyncio.Semaphore(AT_ONCE)

        async def read_back(skill: skillweave.Skill) -> tuple[str, str]:
            async with places:
                source.approve(skill)
                data = await source.read(skill, "SKILL.md")
            return skill.origin.location if skill.origin else "", sha256_of(data)

        came = dict(await asyncio.gather(*map(read_back, loaded.skills)))
    there = {one.uri: one for one in shelf.served.values()}
    for uri, digest in came.items():
        origin = there[uri].skill.origin
        assert origin is not None
        assert digest == sha256_of(await asyncio.to_thread(Path(origin.location).read_bytes))
    assert came.keys() == there.keys()
    assert {one.id for one in snapshot.active()} == {one.skill.id for one in there.values()} | named
    print(f"\n{len(came)} read back, {len(named)} named, {len(snapshot.shadowed)} shadowed")
