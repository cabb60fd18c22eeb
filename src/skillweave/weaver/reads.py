"""The verbs with which a host answers calls of skillweave's own tools."""

from collections.abc import Callable, Mapping
from typing import Unpack

from skillweave.conversation import Read
from skillweave.weaver.engine import Engine
from skillweave.weaver.reading import CallFields, ToolAnswer, call, list_skills, read, search_skills


class Reads:
    """The part of a Weaver that lets a model load, list and find skills."""

    _engine: Engine
    _new_id: Callable[[], str]

    async def read_skill(
        self, skill_id: str, section: str | None = None, *, conversation: str, **fields: Unpack[CallFields]
    ) -> ToolAnswer:
        """What the model's call of `read_skill` is answered with: the skill, its outline, or one of its sections.

        What is in the context already is answered by one line that says where; an unknown skill or section by one that
        names the known ones. Counts as given on return.
        """
        return await read(self._engine, Read(skill_id, section), conversation, fields, self._new_id)

    async def read_artifact(
        self,
        skill_id: str,
        artifact_id: str,
        section: str | None = None,
        *,
        conversation: str,
        **fields: Unpack[CallFields],
    ) -> ToolAnswer:
        """What the model's call of `read_artifact` is answered with: a document of a skill, or a section of it."""
        return await read(self._engine, Read(skill_id, section, artifact_id), conversation, fields, self._new_id)

    async def list_skills(self, after: str = "") -> ToolAnswer:
        """The skills with ids after `after`, as many as the catalog's budget holds."""
        return await list_skills(self._engine, after)

    async def search_skills(self, query: str) -> ToolAnswer:
        """The ten skills that fit the words best, best first."""
        return await search_skills(self._engine, query)

    async def call_tool(
        self, name: str, arguments: Mapping[str, object] | None, *, conversation: str, **fields: Unpack[CallFields]
    ) -> ToolAnswer:
        """Any of skillweave's own tools by its name, as the model called it; never raises for what the model wrote.

        `arguments` None stands for what was no JSON object.
        """
        return await call(self._engine, name, arguments, conversation, fields, self._new_id)
