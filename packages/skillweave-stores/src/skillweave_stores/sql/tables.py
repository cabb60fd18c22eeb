"""The tables, the same for SQLite and PostgreSQL, as a new database gets them.

A change here needs a migration too, which brings older databases to this form.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    DDL,
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Connection,
    DateTime,
    Dialect,
    Double,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    event,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

LONGEST_NAME = 200
LONGEST_TAG = 100
"""Characters of a name and of a tag in columns of their own, for people who look; the manifest has them whole."""
_DEFAULT_TENANT = text("'default'")
_NOW = text("CURRENT_TIMESTAMP")
Document = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Tags = JSON().with_variant(ARRAY(String(LONGEST_TAG)), "postgresql")
Id = String(100).with_variant(String(100, collation="C"), "postgresql")
Key = Text().with_variant(Text(collation="C"), "postgresql")
"""Sorted by their characters on every database, whatever language it is set up for."""
IN_ORDER = '"left"(conversation, 400)'
"""What ids are sorted by: so much of one fits into an index, with any tenant beside it."""
Number = BigInteger().with_variant(Integer(), "sqlite")
Properties = JSON(none_as_null=True)
"""As text on every database: JSONB would sort the keys, and what is rendered of an entity follows their order."""
BANDS = 100
"""Bands of latitude in a degree; one is about 3,640 feet high."""
_LOCATED = (
    "latitude IS NULL AND longitude IS NULL AND datum IS NULL AND band IS NULL"
    " OR latitude IS NOT NULL AND longitude IS NOT NULL AND datum IS NOT NULL AND band IS NOT NULL"
    " AND latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180"
    f" AND band <= latitude * {BANDS} AND latitude * {BANDS} < band + 1"
)
"""A location is whole or not there, and its band is that of its latitude, also in a row that was written by hand."""


WAITING = "decided IS NOT NULL AND NOT applied"
"""The condition of approvals that have a verdict which their conversation does not know yet."""


def _partial_index(name: str, where: str, *columns: str) -> Index:
    return Index(name, *columns, postgresql_where=text(where), sqlite_where=text(where))


class Moment(TypeDecorator[datetime]):
    """A point in time with its zone; SQLite keeps none, so that it gets UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """In UTC, as the database is to keep it."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ANN401
        """With its zone, also from SQLite."""
        return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value


class Row(DeclarativeBase):
    """What all tables share: names of constraints that are the same on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "%(table_name)s_by_%(column_0_N_name)s",
            "fk": "%(table_name)s_of_%(referred_table_name)s",
            "pk": "%(table_name)s_key",
        }
    )


class SkillRow(Row):
    """The version of a skill that is in use: what the model sees first, everything else, and its artifacts in order.

    `status` and `version` count, whatever the definition says; `name` and `domain_tags` are copies for people who look.
    The columns that may be null are so in a row that somebody wrote by hand. `definition_hash` is that of the manifest
    and the definition as they were published, by which a row is known that was changed since.
    """

    __tablename__ = "skills"

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(LONGEST_NAME))
    tier1_manifest: Mapped[dict[str, Any]] = mapped_column(Document)
    tier2_definition: Mapped[dict[str, Any]] = mapped_column(Document)
    tier3_artifact_refs: Mapped[list[Any] | None] = mapped_column(Document)
    domain_tags: Mapped[list[str] | None] = mapped_column(Tags)
    status: Mapped[str] = mapped_column(String(20), server_default=text("'active'"))
    version: Mapped[str | None] = mapped_column(Text)
    content_hash: Mapped[str | None] = mapped_column(String(64))
    digest: Mapped[str | None] = mapped_column(String(64))
    definition_hash: Mapped[str | None] = mapped_column(String(64))
    origin: Mapped[dict[str, Any] | None] = mapped_column(Document)
    created_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)
    updated_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)


class SkillVersionRow(Row):
    """A version of a skill that was published once; never changed, and kept when the skill is removed.

    `number` counts the versions of one skill, from 1 on.
    """

    __tablename__ = "skill_versions"

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    skill_id: Mapped[str] = mapped_column(Id, primary_key=True)
    content_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    number: Mapped[int] = mapped_column(Integer)
    tier1_manifest: Mapped[dict[str, Any]] = mapped_column(Document)
    tier2_definition: Mapped[dict[str, Any]] = mapped_column(Document)
    tier3_artifact_refs: Mapped[list[Any] | None] = mapped_column(Document)
    version: Mapped[str | None] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))
    definition_hash: Mapped[str] = mapped_column(String(64))
    origin: Mapped[dict[str, Any] | None] = mapped_column(Document)
    published_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)


class SkillArtifactRow(Row):
    """A document of the version in use: text in `content`, or bytes in `blob` with `content` empty.

    `size` is in bytes, so that nobody has to read the content for it; it and `media_type` may be null in a row that
    somebody wrote by hand.
    """

    __tablename__ = "skill_artifacts"
    __table_args__ = (ForeignKeyConstraint(("tenant", "skill_id"), ("skills.tenant", "skills.id"), ondelete="CASCADE"),)

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    skill_id: Mapped[str] = mapped_column(Id, primary_key=True)
    id: Mapped[str] = mapped_column(String(1024), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text)
    blob: Mapped[bytes | None] = mapped_column(LargeBinary)
    media_type: Mapped[str | None] = mapped_column(Text)
    size: Mapped[int | None] = mapped_column(Number)
    content_hash: Mapped[str] = mapped_column(String(64))
    token_estimate: Mapped[int | None] = mapped_column(Number)
    created_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)


class ArtifactContentRow(Row):
    """The content of documents of versions that are not in use, each once, by its SHA-256."""

    __tablename__ = "artifact_contents"

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    content_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[str] = mapped_column(Text)
    blob: Mapped[bytes | None] = mapped_column(LargeBinary)


class AgentRow(Row):
    """An agent as it is configured."""

    __tablename__ = "agents"

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    agent_type: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text)
    skills: Mapped[list[Any]] = mapped_column(Document)
    checkpoints: Mapped[list[Any]] = mapped_column(Document)
    budgets: Mapped[dict[str, Any]] = mapped_column(Document)
    created_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)
    updated_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)


class GenerationRow(Row):
    """A number for each tenant that grows with every change of its skills and agents: what replicas compare."""

    __tablename__ = "generation"

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    number: Mapped[int] = mapped_column(Number, server_default=text("0"))
    changed_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)


class StateRow(Row):
    """All about one conversation, as the text of its document; on PostgreSQL only.

    `conversation_hash` is the SHA-256 of the id, as an index holds no key of several thousand bytes. `writers` are the
    newest writes, so that one is known again whose answer was lost.
    """

    __tablename__ = "states"
    __table_args__ = (Index("states_in_order", "tenant", text(IN_ORDER)),)

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    conversation_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    conversation: Mapped[str] = mapped_column(Key)
    revision: Mapped[int] = mapped_column(Number)
    document: Mapped[str] = mapped_column(Text)
    writers: Mapped[list[str]] = mapped_column(Tags)
    updated_at: Mapped[datetime] = mapped_column(Moment, server_default=_NOW)


class InsertionRow(Row):
    """What the exchange put into requests, by the SHA-256 of scope and key; on PostgreSQL only."""

    __tablename__ = "insertions"
    __table_args__ = (Index("insertions_by_age", "used"),)

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    used: Mapped[float] = mapped_column(Double)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class DecisionRow(Row):
    """The decisions of one turn, for `why`, as the text of a JSON array; on PostgreSQL only.

    `at` is in seconds of the store's clock, `number` the order in which turns came at the same time. The hashes are the
    SHA-256 of the ids.
    """

    __tablename__ = "decisions"
    __table_args__ = (
        Index("decisions_once", "tenant", "conversation_hash", "turn_hash", unique=True),
        Index("decisions_by_age", "at"),
    )

    number: Mapped[int] = mapped_column(Number, Identity(), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(200), server_default=_DEFAULT_TENANT)
    conversation_hash: Mapped[bytes] = mapped_column(LargeBinary)
    turn_hash: Mapped[bytes] = mapped_column(LargeBinary)
    conversation: Mapped[str] = mapped_column(Key)
    turn_id: Mapped[str] = mapped_column(Text)
    at: Mapped[float] = mapped_column(Double)
    document: Mapped[str] = mapped_column(Text)


class EntityRow(Row):
    """A thing that the knowledge graph knows. `band` is the latitude in hundredths of a degree, rounded down.

    `entities_by_place` finds what lies in a box: each band of it is one range of longitudes. `aliases` are the texts
    as they were given, which `entity_aliases` finds in any spelling. What may be null is so in a row written by hand.
    """

    __tablename__ = "entities"
    __table_args__ = (
        CheckConstraint(_LOCATED, name="entities_located"),
        _partial_index(
            "entities_by_place", "band IS NOT NULL", "tenant", "band", "longitude", "latitude", "datum", "label"
        ),
    )

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    id: Mapped[str] = mapped_column(Key, primary_key=True)
    label: Mapped[str] = mapped_column(Key)
    datum: Mapped[str | None] = mapped_column(Key)
    latitude: Mapped[float | None] = mapped_column(Double)
    longitude: Mapped[float | None] = mapped_column(Double)
    band: Mapped[int | None] = mapped_column(Integer)
    aliases: Mapped[list[str] | None] = mapped_column(Properties)
    properties: Mapped[dict[str, Any] | None] = mapped_column(Properties)


class EntityAliasRow(Row):
    """A name by which an entity is found: the letters and digits of one of its aliases, without case."""

    __tablename__ = "entity_aliases"
    __table_args__ = (
        ForeignKeyConstraint(("tenant", "entity_id"), ("entities.tenant", "entities.id"), ondelete="CASCADE"),
        Index("entity_aliases_by_entity", "tenant", "entity_id"),
    )

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    alias_key: Mapped[str] = mapped_column(Key, primary_key=True)
    entity_id: Mapped[str] = mapped_column(Key, primary_key=True)


class EntityEdgeRow(Row):
    """How one entity is connected with another; its key finds the edges that leave an entity."""

    __tablename__ = "entity_edges"
    __table_args__ = (
        ForeignKeyConstraint(
            ("tenant", "source"), ("entities.tenant", "entities.id"), name="entity_edges_from", ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ("tenant", "target"), ("entities.tenant", "entities.id"), name="entity_edges_to", ondelete="CASCADE"
        ),
        Index("entity_edges_coming", "tenant", "target", "relation", "source"),
    )

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    source: Mapped[str] = mapped_column(Key, primary_key=True)
    relation: Mapped[str] = mapped_column(Key, primary_key=True)
    target: Mapped[str] = mapped_column(Key, primary_key=True)
    properties: Mapped[dict[str, Any] | None] = mapped_column(Properties)


class ApiKeyRow(Row):
    """An API key of the service: of its secret only the SHA-256, in hex. Times are in seconds since 1970.

    `scopes` are the names of what it may do, with a space between them.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    tenant: Mapped[str] = mapped_column(String(200), server_default=_DEFAULT_TENANT)
    name: Mapped[str] = mapped_column(Text)
    scopes: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[float] = mapped_column(Double)
    revoked_at: Mapped[float | None] = mapped_column(Double)


class WorkingMemoryRow(Row):
    """What a conversation works on, as the text of a JSON object, until that second of the store's clock.

    `conversation_hash` is the SHA-256 of the id, as an index holds no key of several thousand bytes.
    """

    __tablename__ = "working_memory"
    __table_args__ = (Index("working_memory_by_age", "until"),)

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    conversation_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    conversation: Mapped[str] = mapped_column(Key)
    document: Mapped[str] = mapped_column(Text)
    until: Mapped[float] = mapped_column(Double)


class ApprovalRow(Row):
    """A question to a person, as the text of its document, which counts; the other columns are copies to find it by.

    `decided` is the number of the log's row with the verdict, null while nobody has decided. `due_at` is null where
    it does not go on to another reviewer. Times are in seconds of the store's clock.
    """

    __tablename__ = "approvals"
    __table_args__ = (
        Index("approvals_in_order", "tenant", "created_at", "id"),
        Index("approvals_by_status", "tenant", "status", "created_at", "id"),
        Index("approvals_of_conversation", "tenant", "conversation_hash", "created_at", "id"),
        _partial_index("approvals_waiting", WAITING, "tenant", "conversation_hash", "decided"),
        _partial_index("approvals_due", "due_at IS NOT NULL", "tenant", "due_at"),
    )

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    id: Mapped[str] = mapped_column(Key, primary_key=True)
    conversation_hash: Mapped[bytes] = mapped_column(LargeBinary)
    conversation: Mapped[str] = mapped_column(Key)
    skill_id: Mapped[str] = mapped_column(Text)
    checkpoint: Mapped[str] = mapped_column(Text)
    document: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(20))
    reviewer: Mapped[str] = mapped_column(Text)
    created_at: Mapped[float] = mapped_column(Double)
    due_at: Mapped[float | None] = mapped_column(Double)
    decided: Mapped[int | None] = mapped_column(Number)
    applied: Mapped[bool] = mapped_column(Boolean)


class ApprovalLogRow(Row):
    """One step of one approval; triggers refuse to change, remove or empty it.

    `number` counts the rows of a tenant from 1 on. `seal` is an HMAC over the row and the seal of the one before.
    """

    __tablename__ = "approval_log"
    __table_args__ = (Index("approval_log_of_approval", "tenant", "approval_id", "number"),)

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    number: Mapped[int] = mapped_column(Number, primary_key=True)
    approval_id: Mapped[str] = mapped_column(Key)
    kind: Mapped[str] = mapped_column(String(20))
    at: Mapped[float] = mapped_column(Double)
    document: Mapped[str] = mapped_column(Text)
    seal: Mapped[str] = mapped_column(String(64))


class ApprovalHeadRow(Row):
    """Where the log of a tenant ends; who adds to the log has this row for itself."""

    __tablename__ = "approval_heads"

    tenant: Mapped[str] = mapped_column(String(200), primary_key=True, server_default=_DEFAULT_TENANT)
    number: Mapped[int] = mapped_column(Number)
    last_seal: Mapped[str] = mapped_column(String(64))
    seal: Mapped[str] = mapped_column(String(64))


ON_POSTGRES_ONLY = frozenset({one.__tablename__ for one in (StateRow, DecisionRow, InsertionRow)})
"""A SQLite file of conversations is written by the standard library's driver, in tables of its own with these names."""
_REFUSED = "approval_log is only added to: its rows stay as they are"
_ON_SQLITE = f"""
CREATE TRIGGER approval_log_stays_{{what}} BEFORE {{what}} ON approval_log
BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END
"""
_ON_POSTGRES = (
    f"""
CREATE FUNCTION approval_log_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '{_REFUSED}' USING ERRCODE = 'restrict_violation'; END $$
""",
    """
CREATE TRIGGER approval_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON approval_log
FOR EACH STATEMENT EXECUTE FUNCTION approval_log_stays()
""",
)


def _once_made(table: type[Row], statement: str, dialect: str | None = None) -> None:
    """Has a statement run when the table is made, in databases of that kind."""
    step = DDL(statement.strip()).execute_if(dialect=dialect)  # type: ignore[no-untyped-call]
    event.listen(table.__table__, "after_create", step)


for _what in ("update", "delete"):
    _once_made(ApprovalLogRow, _ON_SQLITE.format(what=_what), "sqlite")
for _step in _ON_POSTGRES:
    _once_made(ApprovalLogRow, _step, "postgresql")
# So that who changes rows by hand can always say so with one UPDATE.
_once_made(GenerationRow, "INSERT INTO generation (tenant) VALUES ('default')")


def make_tables(connection: Connection) -> None:
    """Makes the tables that the database lacks, with their indexes and triggers."""
    on_postgres = connection.dialect.name == "postgresql"
    wanted = [one for one in Row.metadata.sorted_tables if on_postgres or one.name not in ON_POSTGRES_ONLY]
    Row.metadata.create_all(connection, tables=wanted)
