"""What the service keeps: API keys, working memory, and approvals with a log that is only added to."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_WAITING = sa.text("decided IS NOT NULL AND NOT applied")
_DUE = sa.text("due_at IS NOT NULL")
_REFUSED = "approval_log is only added to: its rows stay as they are"
_ON_SQLITE = """
CREATE TRIGGER approval_log_stays_{what} BEFORE {what} ON approval_log
BEGIN SELECT RAISE(ABORT, '{refused}'); END
"""
_REFUSING = """
CREATE FUNCTION approval_log_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '{refused}' USING ERRCODE = 'restrict_violation'; END $$
"""
_ON_POSTGRES = """
CREATE TRIGGER approval_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON approval_log
FOR EACH STATEMENT EXECUTE FUNCTION approval_log_stays()
"""


def _tenant() -> "sa.Column[str]":
    return sa.Column("tenant", sa.String(200), nullable=False, server_default=sa.text("'default'"))


def _key(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False)


def _number(name: str, *, nullable: bool = False) -> "sa.Column[int]":
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=nullable)


def _seconds(name: str, *, nullable: bool = False) -> "sa.Column[float]":
    return sa.Column(name, sa.Double(), nullable=nullable)


def _text(name: str, length: int | None = None) -> "sa.Column[str]":
    return sa.Column(name, sa.Text() if length is None else sa.String(length), nullable=False)


def upgrade() -> None:
    """Make the five tables with their indexes, and what keeps the log as it is."""
    op.create_table(
        "api_keys",
        _key("id"),
        _tenant(),
        _text("name"),
        _text("scopes"),
        _text("hash", 64),
        _seconds("created_at"),
        _seconds("revoked_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="api_keys_key"),
    )
    op.create_table(
        "working_memory",
        _tenant(),
        sa.Column("conversation_hash", sa.LargeBinary(), nullable=False),
        _key("conversation"),
        _text("document"),
        _seconds("until"),
        sa.PrimaryKeyConstraint("tenant", "conversation_hash", name="working_memory_key"),
    )
    op.create_index("working_memory_by_age", "working_memory", ["until"])
    _approvals()
    _approval_log()


def _approvals() -> None:
    op.create_table(
        "approvals",
        _tenant(),
        _key("id"),
        sa.Column("conversation_hash", sa.LargeBinary(), nullable=False),
        _key("conversation"),
        _text("skill_id"),
        _text("checkpoint"),
        _text("document"),
        _text("status", 20),
        _text("reviewer"),
        _seconds("created_at"),
        _seconds("due_at", nullable=True),
        _number("decided", nullable=True),
        sa.Column("applied", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name="approvals_key"),
    )
    op.create_index("approvals_in_order", "approvals", ["tenant", "created_at", "id"])
    op.create_index("approvals_by_status", "approvals", ["tenant", "status", "created_at", "id"])
    op.create_index("approvals_of_conversation", "approvals", ["tenant", "conversation_hash", "created_at", "id"])
    op.create_index(
        "approvals_waiting",
        "approvals",
        ["tenant", "conversation_hash", "decided"],
        postgresql_where=_WAITING,
        sqlite_where=_WAITING,
    )
    op.create_index("approvals_due", "approvals", ["tenant", "due_at"], postgresql_where=_DUE, sqlite_where=_DUE)


def _approval_log() -> None:
    op.create_table(
        "approval_log",
        _tenant(),
        _number("number"),
        _key("approval_id"),
        _text("kind", 20),
        _seconds("at"),
        _text("document"),
        _text("seal", 64),
        sa.PrimaryKeyConstraint("tenant", "number", name="approval_log_key"),
    )
    op.create_index("approval_log_of_approval", "approval_log", ["tenant", "approval_id", "number"])
    op.create_table(
        "approval_heads",
        _tenant(),
        _number("number"),
        _text("last_seal", 64),
        _text("seal", 64),
        sa.PrimaryKeyConstraint("tenant", name="approval_heads_key"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_REFUSING.format(refused=_REFUSED))
        op.execute(_ON_POSTGRES)
    else:
        for what in ("update", "delete"):
            op.execute(_ON_SQLITE.format(what=what, refused=_REFUSED))
