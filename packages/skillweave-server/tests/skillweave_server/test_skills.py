"""Skills over HTTP: looked at, searched, published, rolled back and checked."""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from httpx import AsyncClient, Response
from tests.skillweave_server.harbour import asked, harbour_service

from skillweave import Skill
from skillweave.formats.native import to_dict
from skillweave.formats.spelling import to_definition, to_tiers

KNOTS = {"id": "knots", "description": "Ties knots.", "version": "1", "triggers": {"keywords": ["knot"]}}


async def publish(client: AsyncClient, definition: dict[str, Any] = KNOTS, **artifacts: Any) -> Response:
    """Publish it under its own id; double underscores in names of artifacts stand for slashes."""
    named = {name.replace("__", "/") + ".md": content for name, content in artifacts.items()}
    body = {"definition": definition, **({"artifacts": named} if named else {})}
    return await client.put(f"/skills/{definition['id']}", json=body)


async def test_skills_are_listed_by_id_in_pages(client: AsyncClient) -> None:
    first = (await client.get("/skills", params={"limit": 3})).json()
    assert [one["id"] for one in first["items"]] == ["berth-planning", "crane-work", "crewing"]
    assert first["next"] == "crewing"
    rest = (await client.get("/skills", params={"limit": 3, "after": first["next"]})).json()
    assert [one["id"] for one in rest["items"]] == ["customs-papers", "dock-watch", "greeting"]
    last = (await client.get("/skills", params={"limit": 3, "after": rest["next"]})).json()
    assert ([one["id"] for one in last["items"]], last["next"]) == (["pilotage"], None)


async def test_skills_are_listed_by_status(client: AsyncClient) -> None:
    found = (await client.get("/skills", params={"status": "draft"})).json()
    assert [(one["id"], one["status"]) for one in found["items"]] == [("crane-work", "draft")]


async def test_a_skill_is_answered_as_it_is_published(client: AsyncClient) -> None:
    data = (await client.get("/skills/pilotage")).json()
    assert Skill.from_dict(data).tools is not None
    assert data["tools"]["forbidden"] == ["move_crane"]


async def test_an_unknown_skill_is_a_problem_that_names_the_nearest(client: AsyncClient) -> None:
    answer = await client.get("/skills/pilotge")
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:skillweave:problem:skill-not-found"
    assert "'pilotage'" in answer.json()["detail"]


async def test_a_search_says_which_skill_fits_a_text_and_why(client: AsyncClient) -> None:
    found = (await client.get("/skills:search", params={"q": "a berth, please"})).json()
    assert found["chosen"][0]["skill_id"] == "berth-planning"
    assert found["chosen"][0]["evidence"]


async def test_a_published_skill_is_there_at_once(client: AsyncClient) -> None:
    answer = await publish(client)
    assert answer.status_code == 201
    assert answer.json()["change"] == "inserted"
    assert (await client.get("/skills/knots")).json()["description"] == "Ties knots."
    found = (await client.get("/skills:search", params={"q": "tie a knot"})).json()
    assert [one["skill_id"] for one in found["chosen"]] == ["knots"]


async def test_publishing_the_same_again_changes_nothing(client: AsyncClient) -> None:
    first = await publish(client)
    again = await publish(client)
    assert again.status_code == 200
    assert again.json() == {**first.json(), "change": "unchanged"}


async def test_publishing_another_definition_updates_the_skill(client: AsyncClient) -> None:
    first = await publish(client)
    second = await publish(client, {**KNOTS, "version": "2"})
    assert (second.status_code, second.json()["change"], second.json()["version"]) == (200, "updated", "2")
    assert second.json()["content_hash"] != first.json()["content_hash"]


@pytest.mark.parametrize("spelled", [to_dict, to_tiers, to_definition, Skill.to_dict], ids=lambda one: one.__qualname__)
async def test_every_spelling_of_a_skill_can_be_published(client: AsyncClient, spelled: Any) -> None:
    skill = Skill.from_dict((await client.get("/skills/pilotage")).json())
    body = {"definition": spelled(skill)}
    answer = await client.put("/skills/pilotage", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["diagnostics"] == []


async def test_what_a_skill_is_answered_as_can_be_changed_and_published(client: AsyncClient) -> None:
    await publish(client, KNOTS, references__bowline={"text": "Over, under."})
    known = (await client.get("/skills/knots")).json()
    answer = await client.put("/skills/knots", json={"definition": {**known, "description": "Ties and loosens knots."}})
    assert answer.json()["change"] == "updated"
    assert (await client.get("/skills/knots")).json()["description"] == "Ties and loosens knots."
    assert (await client.get("/skills/knots/artifacts/references/bowline.md")).text == "Over, under."


async def test_a_definition_with_errors_is_refused_with_each_finding(client: AsyncClient) -> None:
    answer = await client.put("/skills/knots", json={"definition": {"id": "knots", "status": "sold"}})
    assert answer.status_code == 422
    found = answer.json()["findings"]
    assert {one["code"] for one in found} >= {"field-missing"}
    assert all(one["fix"] for one in found)
    assert (await client.get("/skills/knots")).status_code == 404


async def test_a_broken_published_skill_is_refused_with_its_place(client: AsyncClient) -> None:
    answer = await client.put("/skills/knots", json={"definition": {**KNOTS, "digest": "x", "text": {"steps": 7}}})
    assert answer.status_code == 422
    assert answer.json()["place"]


async def test_a_definition_of_another_skill_is_refused(client: AsyncClient) -> None:
    answer = await client.put("/skills/bends", json={"definition": KNOTS})
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:skillweave:problem:other-skill")


async def test_the_origin_that_a_client_names_is_not_believed(client: AsyncClient) -> None:
    known = Skill.from_dict((await client.get("/skills/greeting")).json()).to_dict()
    named = {**known, "id": "knots", "origin": {"source": "folder", "location": "/etc/knots/SKILL.md"}}
    assert (await client.put("/skills/knots", json={"definition": named})).status_code == 201
    assert "/etc" not in (await client.get("/skills/knots")).text


async def test_documents_are_listed_with_their_sizes(client: AsyncClient) -> None:
    await publish(client, KNOTS, references__bowline={"text": "Over, under."}, notes={"text": "Später."})
    found = (await client.get("/skills/knots/artifacts")).json()
    assert [(one["id"], one["size"]) for one in found["items"]] == [("notes.md", 8), ("references/bowline.md", 12)]


async def test_a_document_is_answered_with_its_media_type_and_runs_nowhere(client: AsyncClient) -> None:
    await publish(client, KNOTS, references__bowline={"text": "Over, under."})
    answer = await client.get("/skills/knots/artifacts/references/bowline.md")
    assert (answer.text, answer.headers["content-type"]) == ("Over, under.", "text/markdown")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_the_slashes_of_a_documents_id_may_be_escaped(client: AsyncClient) -> None:
    await publish(client, KNOTS, references__bowline={"text": "Over, under."})
    assert (await client.get("/skills/knots/artifacts/references%2Fbowline.md")).text == "Over, under."


async def test_bytes_come_back_as_they_were_sent(client: AsyncClient) -> None:
    data = bytes(range(256))
    await publish(client, KNOTS, picture={"base64": base64.b64encode(data).decode()})
    assert (await client.get("/skills/knots/artifacts/picture.md")).content == data


async def test_a_media_type_that_is_none_breaks_no_header(client: AsyncClient) -> None:
    listed = {"id": "a.md", "name": "a", "media_type": "text/plain\r\nSet-Cookie: a=b", "size": 1}
    await client.put(
        "/skills/knots", json={"definition": {**KNOTS, "artifacts": [listed]}, "artifacts": {"a.md": {"text": "x"}}}
    )
    answer = await client.get("/skills/knots/artifacts/a.md")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("content", [{}, {"text": "a", "base64": "YQ=="}, {"base64": "a"}, {"base64": "not base64!"}])
async def test_content_that_cannot_be_read_is_refused(client: AsyncClient, content: dict[str, str]) -> None:
    assert (await publish(client, KNOTS, a=content)).status_code == 422


async def test_an_unknown_document_is_a_problem(client: AsyncClient) -> None:
    await publish(client)
    assert (await client.get("/skills/knots/artifacts/none.md")).status_code == 404
    assert (await client.get("/skills/none/artifacts")).status_code == 404


async def test_versions_are_listed_the_latest_first_in_pages(client: AsyncClient) -> None:
    hashes = [(await publish(client, {**KNOTS, "version": str(n)})).json()["content_hash"] for n in range(3)]
    first = (await client.get("/skills/knots/versions", params={"limit": 2})).json()
    assert [(one["version"], one["in_use"]) for one in first["items"]] == [("2", True), ("1", False)]
    rest = (await client.get("/skills/knots/versions", params={"after": first["next"]})).json()
    assert [one["content_hash"] for one in rest["items"]] == [hashes[0]]
    assert rest["next"] is None


async def test_versions_after_one_that_there_is_not_are_refused(client: AsyncClient) -> None:
    await publish(client)
    assert (await client.get("/skills/knots/versions", params={"after": "0" * 64})).status_code == 422


async def test_an_earlier_version_is_put_in_use_again(client: AsyncClient) -> None:
    first = (await publish(client)).json()
    await publish(client, {**KNOTS, "description": "Cuts knots."})
    back = await client.post("/skills/knots/rollback", json={"content_hash": first["content_hash"]})
    assert (back.json()["change"], back.json()["content_hash"]) == ("updated", first["content_hash"])
    assert (await client.get("/skills/knots")).json()["description"] == "Ties knots."
    again = await client.post("/skills/knots/rollback", json={"content_hash": first["content_hash"]})
    assert again.json()["change"] == "unchanged"


async def test_a_version_that_was_never_published_cannot_be_rolled_back_to(client: AsyncClient) -> None:
    await publish(client)
    answer = await client.post("/skills/knots/rollback", json={"content_hash": "0" * 64})
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:skillweave:problem:version-not-found")


@pytest.mark.parametrize("content_hash", ["", "a\u0000", "\ud800", "x" * 201], ids=["empty", "nul", "half", "long"])
async def test_what_can_be_no_content_hash_is_refused(client: AsyncClient, content_hash: str) -> None:
    await publish(client)
    body = json.dumps({"content_hash": content_hash})
    answer = await client.post("/skills/knots/rollback", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["place"]) == (422, "content_hash")


async def test_a_removed_skill_is_gone_at_once_and_can_come_back(client: AsyncClient) -> None:
    first = (await publish(client)).json()
    assert (await client.delete("/skills/knots")).status_code == 204
    assert (await client.get("/skills/knots")).status_code == 404
    await client.post("/skills/knots/rollback", json={"content_hash": first["content_hash"]})
    assert (await client.get("/skills/knots")).status_code == 200


async def test_a_skill_that_is_not_stored_cannot_be_removed(client: AsyncClient) -> None:
    answer = await client.delete("/skills/pilotage")
    assert (answer.status_code, (await client.get("/skills/pilotage")).status_code) == (404, 200)


@pytest_asyncio.fixture
async def reader(sqlite_url: str, pack: Path) -> AsyncIterator[AsyncClient]:
    """A client of a service that only reads skills."""
    service = harbour_service(sqlite_url, pack)
    service.skills = None
    async with asked(service) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/skills/knots", {"definition": KNOTS}),
        ("DELETE", "/skills/greeting", None),
        ("GET", "/skills/greeting/versions", None),
        ("POST", "/skills/greeting/rollback", {"content_hash": "a"}),
    ],
)
async def test_a_service_that_only_reads_skills_says_how_to_publish(
    reader: AsyncClient, method: str, path: str, body: object
) -> None:
    answer = await reader.request(method, path, **({} if body is None else {"json": body}))
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:skillweave:problem:no-skill-store")
    assert "--store" in answer.json()["detail"]


async def test_a_check_says_what_is_wrong_with_skills_together_and_stores_nothing(client: AsyncClient) -> None:
    needs = {"id": "splices", "description": "Splices.", "relations": [{"kind": "requires", "skill": "knot"}]}
    answer = await client.post("/skills:check", json={"skills": [{"definition": KNOTS}, {"definition": needs}]})
    found = answer.json()
    assert found["loaded"] == 2
    assert {one["code"] for one in found["diagnostics"]} >= {"empty-text", "required-missing"}
    assert (await client.get("/skills/splices")).status_code == 404


async def test_a_check_names_a_definition_that_is_no_skill(client: AsyncClient) -> None:
    bad = {**KNOTS, "digest": "x", "text": {"steps": 7}}
    skills = [{"definition": bad}, {"definition": {"id": "a"}}, {"definition": KNOTS}]
    found = (await client.post("/skills:check", json={"skills": skills})).json()
    assert found["loaded"] == 1
    assert [one["code"] for one in found["diagnostics"]].count("not-a-definition") == 2


async def test_a_check_reads_no_file_that_a_definition_names(client: AsyncClient, tmp_path: Path) -> None:
    place = tmp_path / "SKILL.md"
    place.write_text("---\nname: secret\ndescription: TODO\n---\n", encoding="utf-8")
    skill = Skill.from_dict((await client.get("/skills/greeting")).json()).to_dict()
    named = {**skill, "origin": {"source": "x", "location": str(place)}, "description": "replace with description"}
    found = (await client.post("/skills:check", json={"skills": [{"definition": named}]})).json()
    assert [(one["code"], one["path"]) for one in found["diagnostics"]] == [("unedited-template", "request")]


async def test_a_check_of_too_many_skills_is_refused(client: AsyncClient) -> None:
    answer = await client.post("/skills:check", json={"skills": [{"definition": KNOTS}] * 501})
    assert answer.status_code == 422
    assert "500" in answer.json()["detail"]


async def test_agents_are_listed_by_id_and_answered(client: AsyncClient) -> None:
    first = (await client.get("/agents", params={"limit": 1})).json()
    assert ([one["id"] for one in first["items"]], first["next"]) == (["crane-driver"], "crane-driver")
    assert (await client.get("/agents/harbour-master")).json()["skills"] == ["berth-planning", "pilotage"]
    assert (await client.get("/agents/captain")).status_code == 404


async def test_another_replica_has_a_published_skill_when_it_compares_versions(sqlite_url: str, pack: Path) -> None:
    later = harbour_service(sqlite_url, pack)
    async with asked(harbour_service(sqlite_url, pack)) as one, asked(later) as other:
        assert (await other.get("/skills/knots")).status_code == 404
        await publish(one)
        # Versions are compared at most once a second, by this clock.
        freshness = later.weaver("").skills.registry._freshness
        now = freshness.clock
        freshness.clock = lambda: now() + 2
        assert (await other.get("/skills/knots")).status_code == 200


class TestOnPostgresql:
    """What depends on the database, on PostgreSQL."""

    async def test_a_skill_is_published_read_rolled_back_and_removed(self, postgres_url: str) -> None:
        async with asked(harbour_service(postgres_url, None)) as one:
            first = (await publish(one, KNOTS, references__bowline={"text": "Over, under."})).json()
            assert (await publish(one, {**KNOTS, "version": "2"})).json()["change"] == "updated"
            back = await one.post("/skills/knots/rollback", json={"content_hash": first["content_hash"]})
            assert back.json()["version"] == "1"
            assert (await one.get("/skills/knots/artifacts/references/bowline.md")).text == "Over, under."
            async with asked(harbour_service(postgres_url, None)) as other:
                assert (await other.get("/skills/knots")).status_code == 200
                assert (await one.delete("/skills/knots")).status_code == 204
            async with asked(harbour_service(postgres_url, None)) as other:
                assert (await other.get("/skills/knots")).status_code == 404
