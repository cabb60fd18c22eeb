"""Skills and agents: those that the tenant has, what fits a text, documents, publishing, and checking."""

import asyncio
import re
from dataclasses import replace
from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import Response

from skillweave import Diagnostic, Registry, Skill, SkillNotFound, Status
from skillweave.api import (
    AgentPage,
    ArtifactPage,
    CheckReport,
    CheckRequest,
    RollbackRequest,
    SkillDefinition,
    SkillListed,
    SkillPage,
    SkillPublished,
    SkillVersion,
    VersionPage,
    page,
)
from skillweave.errors import AgentNotFound, InvalidData
from skillweave.registry import Agent, Change, WritableSource, content_hash_of
from skillweave.selection import Selection
from skillweave.skills import check_skills, read_any
from skillweave.sources import NOT_A_DEFINITION, InCode
from skillweave.values import Location, has_errors
from skillweave_server.calls import Call
from skillweave_server.endpoints import After, Endpoints, Limit, answer
from skillweave_server.problems import Refused
from skillweave_stores.access import Scope

SKILLS = Endpoints("skills")

LONGEST_SEARCH = 2_000
"""Characters of a text that skills are searched for."""
_REQUEST = "request"
"""What findings call the place of a definition that came with a request."""
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_LOCKED = {"Content-Security-Policy": "default-src 'none'; sandbox"}
"""Keeps a browser from running what somebody published."""

SkillId = Annotated[str, Path(min_length=1, max_length=100, description="The id of the skill.")]
ArtifactId = Annotated[str, Path(min_length=1, max_length=1024, description="The document, as the skill lists it.")]
Text = Annotated[str, Query(min_length=1, max_length=LONGEST_SEARCH, description="What is to be done, in words.")]


@SKILLS.at("GET", "/skills", scope=Scope.READ, answers=SkillPage)
async def list_skills(call: Call, status: Status | None = None, after: After = "", limit: Limit = 20) -> SkillPage:
    """The skills by their ids; those of one status, or all."""
    found = (await call.weaver().skills.snapshot()).values()
    wanted = sorted((one for one in found if status in (None, one.status)), key=_id)
    behind = [SkillListed.of(one) for one in wanted if one.id > after]
    return page(SkillPage, behind, limit, lambda listed: listed.id)


@SKILLS.at("GET", "/skills:search", scope=Scope.READ, answers=Selection)
async def search_skills(call: Call, q: Text) -> Selection:
    """What the matchers say to this text: the skills that would be given, and those that are offered, best first.

    It is a look: no conversation is asked or changed.
    """
    return await call.weaver().skills.match(q, conversation="search")


@SKILLS.at("GET", "/skills/{skill}", scope=Scope.READ, answers=Skill, problems=(404,))
async def get_skill(call: Call, skill: SkillId) -> Skill:
    """The definition that is in use."""
    return (await call.weaver().skills.snapshot())[skill]


@SKILLS.at(
    "PUT",
    "/skills/{skill}",
    scope=Scope.WRITE,
    takes=SkillDefinition,
    answers=SkillPublished,
    or_status=201,
    problems=(409,),
)
async def publish_skill(call: Call, skill: SkillId, asked: SkillDefinition) -> Response:
    """Store a version of the skill and put it in use; 201 for a skill that was not there.

    The same again changes nothing. This replica uses it at once, others within about a second. A definition of which
    something would be lost answers 422 with each finding.
    """
    store = _store_of(call)
    read = read_any(asked.spelled(), path=_REQUEST, source=_REQUEST)
    if read.skill is None or has_errors(read.diagnostics):
        detail = f"the definition of {skill!r} is not stored: it has errors, which the findings name; correct them"
        raise Refused(422, "invalid-skill", detail, findings=read.diagnostics)
    if read.skill.id != skill:
        detail = f"the path names skill {skill!r} and the definition {read.skill.id!r}; send it to its own path"
        raise Refused(422, "other-skill", detail, place="definition")
    written = await store.publish(replace(read.skill, origin=None), asked.contents())
    await call.weaver().skills.refresh()
    return _published(written.change, written.skill or read.skill, read.diagnostics)


@SKILLS.at("DELETE", "/skills/{skill}", scope=Scope.WRITE, problems=(404, 409))
async def remove_skill(call: Call, skill: SkillId) -> None:
    """Take the skill out of use; its versions stay, and can be rolled back to."""
    await _store_of(call).remove(skill)
    await call.weaver().skills.refresh()


@SKILLS.at("GET", "/skills/{skill}/versions", scope=Scope.READ, answers=VersionPage, problems=(404, 409))
async def list_versions(call: Call, skill: SkillId, after: After = "", limit: Limit = 20) -> VersionPage:
    """Every version that was published, the latest first; `after` is the content hash of one."""
    versions = [SkillVersion.of(one) for one in await _store_of(call).versions(skill)]
    places = {one.content_hash: place for place, one in enumerate(versions)}
    if after and after not in places:
        raise Refused(422, "invalid-parameter", f"skill {skill!r} has no version {after[:64]!r} to go on after")
    behind = versions[places[after] + 1 :] if after else versions
    return page(VersionPage, behind, limit, lambda one: one.content_hash)


@SKILLS.at(
    "POST",
    "/skills/{skill}/rollback",
    scope=Scope.WRITE,
    takes=RollbackRequest,
    answers=SkillPublished,
    problems=(404, 409),
)
async def roll_back_skill(call: Call, skill: SkillId, asked: RollbackRequest) -> Response:
    """Put an earlier version in use; again changes nothing."""
    store = _store_of(call)
    before = next((one.content_hash for one in await store.versions(skill) if one.in_use), None)
    used = await store.roll_back(skill, asked.content_hash)
    await call.weaver().skills.refresh()
    return _published(Change.UNCHANGED if before == asked.content_hash else Change.UPDATED, used, ())


@SKILLS.at("GET", "/skills/{skill}/artifacts", scope=Scope.READ, answers=ArtifactPage, problems=(404,))
async def list_artifacts(call: Call, skill: SkillId, after: After = "", limit: Limit = 20) -> ArtifactPage:
    """The documents of the skill by their ids, with their sizes in bytes."""
    found = (await call.weaver().skills.snapshot())[skill].artifacts
    behind = sorted((one for one in found if one.id > after), key=lambda ref: ref.id)
    return page(ArtifactPage, behind, limit, lambda ref: ref.id)


@SKILLS.at(
    "GET",
    "/skills/{skill}/artifacts/{artifact:path}",
    scope=Scope.READ,
    answers=str,
    media_type="*/*",
    problems=(404,),
)
async def get_artifact(call: Call, skill: SkillId, artifact: ArtifactId) -> Response:
    """The content of one document, with its own media type; browsers are told to run nothing of it."""
    weaver = call.weaver()
    snapshot = await weaver.skills.snapshot()
    if skill not in snapshot:
        raise SkillNotFound(skill, snapshot)
    found = await weaver.skills.registry.read_artifact(skill, artifact, snapshot=snapshot)
    declared = found.ref.media_type
    media_type = declared if _MEDIA_TYPE.fullmatch(declared) else "application/octet-stream"
    return Response(found.data, headers={**_LOCKED, "Content-Type": media_type})


@SKILLS.at("POST", "/skills:check", scope=Scope.WRITE, takes=CheckRequest, answers=CheckReport)
async def check_definitions(call: Call, asked: CheckRequest) -> CheckReport:
    """What is wrong with these skills as a set, as `skillweave check` says it; nothing is stored.

    They are looked at by themselves: a relation to a skill that is only stored is one to an unknown skill.
    """
    definitions: list[dict[str, object]] = []
    contents: dict[str, dict[str, str | bytes]] = {}
    findings: list[Diagnostic] = []
    for number, one in enumerate(asked.skills, start=1):
        try:
            definition = one.spelled()
        except InvalidData as error:
            message, fix = f"definition {number} is no skill: {error}", "correct the definition"
            findings.append(NOT_A_DEFINITION.found(Location(_REQUEST), message, fix))
            continue
        definitions.append(definition)
        if one.artifacts and (skill := read_any(definition, path=_REQUEST, source=_REQUEST).skill) is not None:
            contents[skill.id] = one.contents()
    registry = Registry([InCode(*definitions, name=_REQUEST, artifacts=contents)])
    await registry.refresh()
    found = await asyncio.to_thread(check_skills, registry.snapshot)
    return CheckReport(registry.snapshot.loaded, (*findings, *found))


def _store_of(call: Call) -> WritableSource:
    """The tenant's part of the store of skills; raises Refused where skills are only read."""
    store = call.service.skills
    if store is None:
        detail = "this service reads its skills from files; start it with `--store sqlite:///FILE` or a database's URL"
        raise Refused(409, "no-skill-store", f"{detail} to publish skills")
    return store.for_tenant(call.tenant)


def _published(change: Change, skill: Skill, diagnostics: tuple[Diagnostic, ...]) -> Response:
    told = SkillPublished(change, skill.id, skill.version, content_hash_of(skill), diagnostics)
    return answer(told, 201 if change is Change.INSERTED else 200)


def _id(skill: Skill) -> str:
    return skill.id


AGENTS = Endpoints("agents")

AgentId = Annotated[str, Path(min_length=1, max_length=100, description="The id of the agent.")]


@AGENTS.at("GET", "/agents", scope=Scope.READ, answers=AgentPage)
async def list_agents(call: Call, after: After = "", limit: Limit = 20) -> AgentPage:
    """The agents by their ids."""
    found = (await call.weaver().skills.snapshot()).agents
    behind = [found[agent_id] for agent_id in sorted(found) if agent_id > after]
    return page(AgentPage, behind, limit, lambda agent: agent.id)


@AGENTS.at("GET", "/agents/{agent}", scope=Scope.READ, answers=Agent, problems=(404,))
async def get_agent(call: Call, agent: AgentId) -> Agent:
    """The agent as it is described now."""
    found = (await call.weaver().skills.snapshot()).agents
    if agent not in found:
        raise AgentNotFound(agent, found)
    return found[agent]
