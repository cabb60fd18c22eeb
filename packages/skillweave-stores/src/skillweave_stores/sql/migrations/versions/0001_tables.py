"""The first tables: skills with versions and artifacts, agents, the generation, and on PostgreSQL conversations."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_DEFAULT = sa.text("'default'")
_NOW = sa.text("CURRENT_TIMESTAMP")


def _document() -> "sa.types.TypeEngine[Any]":
    return sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def _id() -> "sa.types.TypeEngine[Any]":
    return sa.String(100).with_variant(sa.String(100, collation="C"), "postgresql")


def _tenant() -> "sa.Column[str]":
    return sa.Column("tenant", sa.String(200), nullable=False, server_default=_DEFAULT)


def _moment(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=_NOW)


def upgrade() -> None:
    """Make all tables."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "skills",
        _tenant(),
        sa.Column("id", _id(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("tier1_manifest", _document(), nullable=False),
        sa.Column("tier2_definition", _document(), nullable=False),
        sa.Column("tier3_artifact_refs", _document()),
        sa.Column("domain_tags", sa.JSON().with_variant(postgresql.ARRAY(sa.String(100)), "postgresql")),
        sa.Column("status", sa.String(20), nullable=False, server_default=sa.text("'active'")),
        sa.Column("version", sa.Text()),
        sa.Column("content_hash", sa.String(64)),
        sa.Column("digest", sa.String(64)),
        sa.Column("definition_hash", sa.String(64)),
        sa.Column("origin", _document()),
        _moment("created_at"),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant", "id", name="skills_key"),
    )
    op.create_table(
        "skill_versions",
        _tenant(),
        sa.Column("skill_id", _id(), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("tier1_manifest", _document(), nullable=False),
        sa.Column("tier2_definition", _document(), nullable=False),
        sa.Column("tier3_artifact_refs", _document()),
        sa.Column("version", sa.Text()),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("definition_hash", sa.String(64), nullable=False),
        sa.Column("origin", _document()),
        _moment("published_at"),
        sa.PrimaryKeyConstraint("tenant", "skill_id", "content_hash", name="skill_versions_key"),
    )
    op.create_table(
        "skill_artifacts",
        _tenant(),
        sa.Column("skill_id", _id(), nullable=False),
        sa.Column("id", sa.String(1024), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("blob", sa.LargeBinary()),
        sa.Column("media_type", sa.Text()),
        sa.Column("size", number),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("token_estimate", number),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("tenant", "skill_id", "id", name="skill_artifacts_key"),
        sa.ForeignKeyConstraint(
            ["tenant", "skill_id"], ["skills.tenant", "skills.id"], name="skill_artifacts_of_skills", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "artifact_contents",
        _tenant(),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("blob", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("tenant", "content_hash", name="artifact_contents_key"),
    )
    op.create_table(
        "agents",
        _tenant(),
        sa.Column("id", _id(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("agent_type", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("skills", _document(), nullable=False),
        sa.Column("checkpoints", _document(), nullable=False),
        sa.Column("budgets", _document(), nullable=False),
        _moment("created_at"),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant", "id", name="agents_key"),
    )
    op.create_table(
        "generation",
        _tenant(),
        sa.Column("number", number, nullable=False, server_default=sa.text("0")),
        _moment("changed_at"),
        sa.PrimaryKeyConstraint("tenant", name="generation_key"),
    )
    # So that who changes rows by hand can always say so with one UPDATE.
    op.execute("INSERT INTO generation (tenant) VALUES ('default')")
    if op.get_bind().dialect.name == "postgresql":
        _conversations()


def _conversations() -> None:
    op.create_table(
        "states",
        _tenant(),
        sa.Column("conversation_hash", sa.LargeBinary(), nullable=False),
        sa.Column("conversation", sa.Text(collation="C"), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("writers", postgresql.ARRAY(sa.String(100)), nullable=False),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant", "conversation_hash", name="states_key"),
    )
    op.create_index("states_in_order", "states", ["tenant", sa.text('"left"(conversation, 400)')])
    op.create_table(
        "decisions",
        sa.Column("number", sa.BigInteger(), sa.Identity(), nullable=False),
        _tenant(),
        sa.Column("conversation_hash", sa.LargeBinary(), nullable=False),
        sa.Column("turn_hash", sa.LargeBinary(), nullable=False),
        sa.Column("conversation", sa.Text(collation="C"), nullable=False),
        sa.Column("turn_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="decisions_key"),
    )
    op.create_index("decisions_once", "decisions", ["tenant", "conversation_hash", "turn_hash"], unique=True)
    op.create_index("decisions_by_age", "decisions", ["at"])
