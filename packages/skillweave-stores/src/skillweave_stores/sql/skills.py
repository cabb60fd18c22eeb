"""Skills and agents in a SQLite file or a PostgreSQL database, as a source that can be written to."""

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from skillweave import Skill, SkillNotFound, SkillweaveError
from skillweave.errors import AgentNotFound, ArtifactNotFound, InvalidSkill
from skillweave.registry import (
    Agent,
    Change,
    Contents,
    Definition,
    Entry,
    Loaded,
    StoredVersion,
    Written,
    define,
    hashed,
)
from skillweave.values import tenant_of
from skillweave_stores.sql.agents import checked, put_agents, remove_agent
from skillweave_stores.sql.conversations import PostgresStore
from skillweave_stores.sql.database import CONNECTIONS, SECONDS, Database, InDatabase, owner_of
from skillweave_stores.sql.loading import load_all, stream_all, versions_of
from skillweave_stores.sql.planning import Plan, plan_publishing, plan_removing, plan_rolling_back
from skillweave_stores.sql.reading import generation_of, read_content
from skillweave_stores.sql.rows import Prepared, RowReader, prepare
from skillweave_stores.sql.writing import carry_out, lock

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")
_Gone: TypeAlias = type[SkillweaveError] | tuple[()]

MOST_AT_ONCE = 200
"""Skills that are written in one transaction."""
LOG_CONNECTIONS = 4
"""Connections of a log of decisions beside the skills, which is written in batches."""
MOST_BYTES = 4 * 1024 * 1024
"""Bytes of artifacts after which a transaction takes no further skill."""
_SHA_256 = re.compile(r"[0-9a-f]{64}")


class SqlSource(InDatabase):
    """The skills and agents of a tenant in a database: `sqlite:///path` or `postgresql://user:password@host/name`.

    Versions of skills are never forgotten, artifacts are read when they are asked for. Several processes may write to
    one database at once. The first call makes the tables, or brings them up to date. A call takes at most `timeout`
    seconds, with all that it waits for; one event loop has at most `connections`. Both may stand in the URL's query.
    In the place of the URL may be a Database that several stores share, which stays open when this is closed.

    Raises InvalidValue for a URL that cannot be read and a tenant that cannot be one. All methods raise
    StoreUnavailable, which names the server but no password.
    """

    def __init__(
        self,
        url: "Database | str",
        *,
        name: str = "sql",
        tenant: str = "",
        timeout: float = SECONDS,
        connections: int = CONNECTIONS,
    ) -> None:
        super().__init__(url, timeout=timeout, connections=connections)
        self.name = name
        self.tenant, self._owner = tenant_of(tenant), owner_of(tenant)

    def __repr__(self) -> str:
        return f"SqlSource({self.place!r}, name={self.name!r}, tenant={self.tenant!r})"

    def for_tenant(self, tenant: str) -> "SqlSource":
        """The skills of another tenant in the same database, over the same connections."""
        other = copy(self)
        other.tenant, other._owner = tenant_of(tenant), owner_of(tenant)  # noqa: SLF001 - of its own class
        return other

    def decision_log(self) -> PostgresStore | None:
        """A log of decisions in the same PostgreSQL, over connections of its own; None where this is a SQLite file."""
        if not self._database.on_postgres:
            return None
        return PostgresStore(self._database.url, timeout=self._database.seconds, connections=LOG_CONNECTIONS)

    async def version(self) -> str:
        """The number of the tenant's generation and its time, which every change makes others; one round trip."""
        if self._database.is_missing:
            return "0"
        return await self._database.read(lambda one: generation_of(one, self._owner))

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The skills in use, sorted by id, and the agents, all of one moment.

        With what it answered last it reads only the rows that changed since. A SQLite file that is not there holds
        nothing, with a finding that says so; only writing makes it.
        """
        if self._database.is_missing:
            return Loaded(diagnostics=(self._reader.missing(),))
        return await load_all(self._database, self._reader, previous)

    async def stream(self) -> AsyncIterator[Loaded]:
        """The skills in use, sorted by id, 500 at a time; the first part has the agents."""
        if self._database.is_missing:
            yield await self.load()
            return
        async for part in stream_all(self._database, self._reader):
            yield part

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content that belongs to that version of the skill, in use or not; raises ArtifactNotFound."""
        ref = next((ref for ref in skill.artifacts if ref.id == artifact), None)
        if ref is None:
            raise ArtifactNotFound(skill.id, artifact, "the skill does not list it")
        content_hash = ref.content_hash
        if content_hash is None:
            raise ArtifactNotFound(skill.id, artifact, "it was published without content")
        data = await self._database.read(lambda one: read_content(one, self._owner, skill.id, artifact, content_hash))
        if data is None:
            where = f"{self.place} has no content of its hash {content_hash[:12]}; publish it, or refresh"
            raise ArtifactNotFound(skill.id, artifact, where)
        if _SHA_256.fullmatch(content_hash) and hashlib.sha256(data).hexdigest() != content_hash:
            why = (
                f"its content in {self.place} was changed by hand; publish it, "
                "or correct `content_hash` and `size` of its row"
            )
            raise ArtifactNotFound(skill.id, artifact, why)
        return data

    async def publish(self, definition: Definition, artifacts: Contents = MappingProxyType({})) -> Written:
        """Store a version and put it in use; raises InvalidSkill."""
        (written,) = await self._publish([self._prepared(definition, artifacts)])
        if written.change is Change.REFUSED:
            raise InvalidSkill(written.why)
        return written

    async def upsert(self, entries: Iterable[Entry]) -> tuple[Written, ...]:
        """Publish many, up to 200 or 4 MiB of artifacts in one transaction; what became of each, in their order."""
        written: list[Written] = []
        for chunk in _chunks(self._prepared_or_refused(entry) for entry in entries):
            done = iter(await self._publish([one for one in chunk if isinstance(one, Prepared)]))
            written += (next(done) if isinstance(one, Prepared) else one for one in chunk)
        return tuple(written)

    async def roll_back(self, skill_id: str, content_hash: str) -> Skill:
        """Put an earlier version in use; raises SkillNotFound, VersionNotFound, and InvalidSkill for a damaged row."""
        return await self._changed(lambda one: plan_rolling_back(one, self._reader, skill_id, content_hash))

    async def versions(self, skill_id: str) -> tuple[StoredVersion, ...]:
        """Every version of a skill, the newest first; raises SkillNotFound, and InvalidSkill for a damaged row.

        What somebody wrote by hand and nobody published is the first of them, as long as it is in use.
        """
        return await self._database.view(lambda one: versions_of(one, self._reader, skill_id))

    async def remove(self, skill_id: str) -> Skill:
        """Take a skill out of use; raises SkillNotFound, and InvalidSkill for a damaged row."""
        return await self._changed(lambda one: plan_removing(one, self._reader, skill_id), gone=SkillNotFound)

    async def put_agents(self, agents: Iterable[Agent]) -> tuple[Change, ...]:
        """Store agents by their ids; what changed, in their order. Raises InvalidValue for what cannot be stored."""
        columns = [checked(agent) for agent in agents]
        return await self._locked(lambda one: put_agents(one, self._reader, columns))

    async def remove_agent(self, agent_id: str) -> Agent:
        """Take an agent away; raises AgentNotFound."""
        return await self._locked(lambda one: remove_agent(one, self._reader, agent_id), gone=AgentNotFound)

    @property
    def _reader(self) -> RowReader:
        return RowReader(self.name, self.place, self._owner)

    def _prepared(self, definition: Definition, artifacts: Contents) -> Prepared:
        return prepare(hashed(define(definition, self.name).with_contents(artifacts)), self._reader)

    def _prepared_or_refused(self, entry: Entry) -> Prepared | Written:
        try:
            return self._prepared(entry.definition, entry.artifacts)
        except InvalidSkill as error:
            return Written(Change.REFUSED, why=str(error))

    async def _publish(self, wanted: Sequence[Prepared]) -> tuple[Written, ...]:
        async def work(connection: "AsyncConnection") -> Plan:
            plan = await plan_publishing(connection, self._reader, wanted)
            await carry_out(connection, self._owner, plan)
            return plan

        # Most of what is seeded is there already: to see that, nobody has to wait for those who write.
        plan = await self._database.view(lambda one: plan_publishing(one, self._reader, wanted))
        return (await self._locked(work) if plan.uses else plan).written

    async def _changed(
        self, planned: Callable[["AsyncConnection"], Awaitable[tuple[Plan, Skill]]], *, gone: _Gone = ()
    ) -> Skill:
        async def work(connection: "AsyncConnection") -> Skill:
            plan, skill = await planned(connection)
            await carry_out(connection, self._owner, plan)
            return skill

        return await self._locked(work, gone=gone)

    async def _locked(self, work: Callable[["AsyncConnection"], Awaitable[T]], *, gone: _Gone = ()) -> T:
        """What the work answers; `gone` is what it raises once it is done, as after a try whose answer was lost."""
        answers: list[T] = []

        async def locked(connection: "AsyncConnection") -> T:
            await lock(connection, self._owner)
            try:
                answers.append(await work(connection))
            except gone:
                if not answers:
                    raise
            return answers[-1]

        return await self._database.write(locked)


def _chunks(prepared: Iterable[Prepared | Written]) -> Iterator[list[Prepared | Written]]:
    """As many as go into one transaction, no skill twice."""
    chunk: list[Prepared | Written] = []
    ids: set[str] = set()
    size = 0
    for one in prepared:
        skill_id = one.skill.id if isinstance(one, Prepared) else ""
        if len(chunk) == MOST_AT_ONCE or size >= MOST_BYTES or skill_id in ids:
            yield chunk
            chunk, ids, size = [], set(), 0
        chunk.append(one)
        if isinstance(one, Prepared):
            ids.add(skill_id)
            size += sum(map(len, one.contents.values()))
    if chunk:
        yield chunk
