"""Skills and agents over HTTP: looking, publishing, rolling back, checking."""

from collections.abc import AsyncGenerator

from skillweave.api.skills import (
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
)
from skillweave.blocking import M, Verb, VerbSeries
from skillweave.client.room import Room
from skillweave.client.sending import Asked, at
from skillweave.registry import Agent
from skillweave.select.candidates import Selection
from skillweave.skill import ArtifactRef, Skill, Status


class Skills(Room[M]):
    """The verbs about skills and agents."""

    @VerbSeries
    def list_skills(self, status: Status | None = None) -> AsyncGenerator[SkillListed, None]:
        """The skills by their ids; those of one status, or all."""
        return self._entries("/skills", SkillPage, {"status": status})

    @Verb
    async def search_skills(self, text: str) -> Selection:
        """What the matchers say to this text; no conversation is asked or changed."""
        return await self._wire.answer(Asked("GET", "/skills:search", {"q": text}), Selection)

    @Verb
    async def get_skill(self, skill_id: str) -> Skill:
        """The definition that is in use; raises SkillNotFound."""
        return await self._wire.answer(Asked("GET", at("/skills/{}", skill_id)), Skill)

    @Verb
    async def publish_skill(self, skill_id: str, definition: SkillDefinition) -> SkillPublished:
        """Store a version of the skill and put it in use; the same again changes nothing.

        Raises ServiceError (422) with all `findings` for a definition of which something would be lost.
        """
        asked = Asked("PUT", at("/skills/{}", skill_id), body=definition)
        return await self._wire.answer(asked, SkillPublished)

    @Verb
    async def remove_skill(self, skill_id: str) -> None:
        """Take the skill out of use; its versions stay, and can be rolled back to. Raises SkillNotFound."""
        await self._wire.send(Asked("DELETE", at("/skills/{}", skill_id)))

    @VerbSeries
    def list_versions(self, skill_id: str) -> AsyncGenerator[SkillVersion, None]:
        """Every version that was published, the latest first; raises SkillNotFound."""
        return self._entries(at("/skills/{}/versions", skill_id), VersionPage)

    @Verb
    async def roll_back_skill(self, skill_id: str, content_hash: str) -> SkillPublished:
        """Put an earlier version in use; again changes nothing. Raises SkillNotFound and VersionNotFound."""
        asked = Asked("POST", at("/skills/{}/rollback", skill_id), body=RollbackRequest(content_hash))
        return await self._wire.answer(asked, SkillPublished)

    @VerbSeries
    def list_artifacts(self, skill_id: str) -> AsyncGenerator[ArtifactRef, None]:
        """The documents of the skill by their ids; raises SkillNotFound."""
        return self._entries(at("/skills/{}/artifacts", skill_id), ArtifactPage)

    @Verb
    async def get_artifact(self, skill_id: str, artifact_id: str) -> bytes:
        """The content of one document; raises SkillNotFound and ArtifactNotFound."""
        return (await self._wire.send(Asked("GET", at("/skills/{}/artifacts/{}", skill_id, artifact_id)))).content

    @Verb
    async def check_definitions(self, request: CheckRequest) -> CheckReport:
        """What is wrong with these skills as a set, as `skillweave check` says it; nothing is stored."""
        return await self._wire.answer(Asked("POST", "/skills:check", body=request), CheckReport)

    @VerbSeries
    def list_agents(self) -> AsyncGenerator[Agent, None]:
        """The agents by their ids."""
        return self._entries("/agents", AgentPage)

    @Verb
    async def get_agent(self, agent_id: str) -> Agent:
        """The agent as it is described now; raises AgentNotFound."""
        return await self._wire.answer(Asked("GET", at("/agents/{}", agent_id)), Agent)
