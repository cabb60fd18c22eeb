"""A service from paths and names: what all tenants share, what is a tenant's own, and the key of the approvals."""

from pathlib import Path

import pytest
from tests.skillweave_server.parts import MOORING, RELEASE, reached_in, service_in

from skillweave import StoreUnavailable
from skillweave.errors import InvalidValue
from skillweave.registry import Loaded
from skillweave.sources.code import InCode
from skillweave_server.opening import Entry, open_service, place_of
from skillweave_server.tenant_registry import SharedSource
from skillweave_stores.access import Scope, new_key
from skillweave_stores.approvals.key import read_or_make_key
from skillweave_stores.sql.skills import SqlSource


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


async def test_one_file_keeps_everything_of_a_service(tmp_path: Path) -> None:
    async with reached_in(tmp_path) as http:
        turn = {"id": "t1", "message": "Let us release."}
        first = (await http.post("/api/v1/conversations/c/turns", json=turn)).json()
        await http.put("/api/v1/memory/c", json={"ship": "Aurora"})
    assert "tag the commit" in str(first["messages"])
    async with reached_in(tmp_path) as http:
        again = (await http.post("/api/v1/conversations/c/turns", json=turn)).json()
        memory = (await http.get("/api/v1/memory/c")).json()
    assert again["messages"] == first["messages"]
    assert memory == {"ship": "Aurora"}
    assert names_in(tmp_path) == ["service.db", "service.db.approvals-key"]


async def test_a_tenant_has_its_own_skills_before_those_of_all(tmp_path: Path) -> None:
    async with service_in(tmp_path) as service:
        assert service.skills is not None
        own = {**RELEASE, "text": {"instructions": "Ask Ada first."}}
        await service.skills.for_tenant("acme").publish(own)  # type: ignore[attr-defined]
        theirs, others = [await service.weaver(tenant).skills.snapshot() for tenant in ("acme", "globex")]
    assert theirs["release"].text.instructions == "Ask Ada first."
    assert others["release"].text.instructions == RELEASE["text"]["instructions"]
    assert theirs.keys() == others.keys() == {"release", "mooring"}


async def test_tenants_without_skills_of_their_own_share_what_is_compiled_until_they_publish_one(
    tmp_path: Path,
) -> None:
    async with service_in(tmp_path) as service:
        assert isinstance(service.skills, SqlSource)
        await service.skills.for_tenant("first").publish(dict(RELEASE))
        acme, globex = service.weaver("acme"), service.weaver("globex")
        before = await acme.skills.snapshot()
        assert await globex.skills.snapshot() is before
        libraries = [await one._engine.library() for one in (acme, globex)]
        assert libraries[0].index is libraries[1].index
        await service.skills.for_tenant("acme").publish({**RELEASE, "id": "acme-only"})
        await acme.skills.refresh()
        after = await acme.skills.snapshot()
        assert after.keys() == {"acme-only", "release", "mooring"}
        assert after.generation > before.generation
        assert await globex.skills.snapshot() is before
        assert "acme-only" in str((await acme.preview("release", conversation="c")).decisions)


async def test_what_a_tenant_publishes_elsewhere_is_there_a_second_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillweave.registry.freshness.COMPARE_SECONDS", 0.0)
    async with service_in(tmp_path) as service, service_in(tmp_path) as other:
        assert isinstance(other.skills, SqlSource)
        await other.skills.for_tenant("first").publish(dict(RELEASE))
        weaver = service.weaver("acme")
        assert "acme-only" not in await weaver.skills.snapshot()
        await other.skills.for_tenant("acme").publish({**RELEASE, "id": "acme-only"})
        assert "acme-only" in await weaver.skills.snapshot()
        await other.skills.for_tenant("acme").remove("acme-only")
        assert "acme-only" not in await weaver.skills.snapshot()


async def test_skills_of_all_tenants_are_read_once(tmp_path: Path) -> None:
    read = []

    class Counted(InCode):
        async def load(self, previous: Loaded | None = None) -> Loaded:
            read.append(previous)
            return await super().load(previous)

    async with open_service(Counted(dict(MOORING)), store=tmp_path / "s.db") as service:
        for tenant in ("", "acme", "globex"):
            assert "mooring" in await service.weaver(tenant).skills.snapshot()
    assert read == [None]


async def test_a_shared_source_is_read_again_for_who_has_its_newest_answer() -> None:
    source = SharedSource(InCode(dict(MOORING)))
    first = await source.load()
    assert await source.load() is first
    assert await source.load(first) is not None
    assert await source.load(Loaded()) == first


async def test_a_tenant_that_is_put_away_closes_nothing_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillweave_server.service.MOST_TENANTS", 1)
    async with service_in(tmp_path) as service:
        for tenant in ("", "acme", "", "globex"):
            assert await service.weaver(tenant).ledger.state("c") is not None
            assert "release" in await service.weaver(tenant).skills.snapshot()


async def test_what_all_tenants_share_is_closed_with_the_service_also_when_no_tenant_came(tmp_path: Path) -> None:
    service = service_in(tmp_path, entry=Entry.KEYS)
    assert service.keys is not None
    key, _ = new_key("first", [Scope.ADMIN], now=1.0)
    await service.keys.put(key)
    await service.close()
    await service.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await service.keys.list()


def test_the_key_of_the_approvals_is_made_beside_a_store_in_a_file(tmp_path: Path) -> None:
    service_in(tmp_path)
    made = tmp_path / "service.db.approvals-key"
    first = made.read_text()
    assert made.stat().st_mode & 0o777 == 0o600
    service_in(tmp_path)
    assert made.read_text() == first


def test_a_service_on_postgresql_makes_no_key_by_itself(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="same key: copy it here"):
        open_service(store="postgresql://localhost/x", approval_key_file=tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


async def test_without_a_key_no_approval_is_kept_and_turns_go_on() -> None:
    book = open_service(store="postgresql://localhost/x").approvals
    assert await book.waiting("c") == await book.escalate() == ()
    with pytest.raises(StoreUnavailable, match="--approval-key-file"):
        await book.list()
    with pytest.raises(StoreUnavailable, match="--approval-key-file"):
        await book.verify()


def test_a_place_that_can_hold_no_service_is_named_without_its_password() -> None:
    with pytest.raises(InvalidValue, match="a Redis beside it") as caught:
        place_of("redis://:hunter2@localhost")
    assert "hunter2" not in str(caught.value)


def test_a_store_needs_a_name() -> None:
    with pytest.raises(InvalidValue, match="store"):
        place_of("")


@pytest.mark.parametrize("name", ["x/s.db", "sqlite:///x/s.db", "sqlite://x/s.db"])
def test_a_file_has_several_spellings(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert place_of(name).path == tmp_path / "x" / "s.db"


async def test_two_services_on_postgresql_and_a_redis_are_one(
    postgres_tables_url: str, redis_url: str, tmp_path: Path
) -> None:
    read_or_make_key(tmp_path / "approvals.key")
    given = {"store": postgres_tables_url, "redis": redis_url, "approval_key_file": tmp_path / "approvals.key"}
    turn = {"id": "t1", "message": "Let us release."}
    async with reached_in(tmp_path, **given) as first, reached_in(tmp_path, **given) as second:
        ready = (await second.get("/readyz")).json()
        await first.put("/api/v1/memory/c", json={"ship": "Aurora"})
        given_first = (await first.post("/api/v1/conversations/c/turns", json=turn)).json()
        given_again = (await second.post("/api/v1/conversations/c/turns", json=turn)).json()
        memory = (await second.get("/api/v1/memory/c")).json()
        approvals = await second.get("/api/v1/approvals")
        why = (await first.get("/api/v1/conversations/c/why")).json()
    assert ready["parts"] == {"database": "ok", "redis": "ok"}
    assert given_again["messages"] == given_first["messages"]
    assert memory == {"ship": "Aurora"}
    assert approvals.status_code == 200
    assert "release" in {one["decision"]["skill_id"] for one in why}


async def test_what_one_service_does_a_listener_of_another_hears_once(
    postgres_tables_url: str, redis_url: str, tmp_path: Path
) -> None:
    given = {"store": postgres_tables_url, "redis": redis_url}
    async with service_in(tmp_path, **given) as one, service_in(tmp_path, **given) as other:
        await one.weaver("acme").weave("release", conversation="heard", turn_id="t1")
        heard = await other.events.read("heard", tenant="acme")
        assert await other.events.read("heard") == ()
    names = [streamed.event.event_type for streamed in heard]
    assert names.count("turn.decided") == names.count("skill.injected") == 1


async def test_a_service_on_postgresql_alone_keeps_conversations_there(
    postgres_tables_url: str, tmp_path: Path
) -> None:
    async with reached_in(tmp_path, store=postgres_tables_url) as http:
        answer = await http.post("/api/v1/conversations/alone/turns", json={"id": "t1", "message": "release"})
        approvals = await http.get("/api/v1/approvals")
    async with reached_in(tmp_path, store=postgres_tables_url) as http:
        kept = (await http.get("/api/v1/ledger/alone")).json()
    assert answer.json()["revision"] == 1
    assert [record["key"] for record in kept["records"]] == ["skill:release"]
    assert (approvals.status_code, "--approval-key-file" in approvals.json()["detail"]) == (503, True)
