"""What the exchange keeps beside conversations; on SQLite the file of conversations has it."""

from alembic import op

from skillweave_stores.sql.tables import InsertionRow

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the table."""
    if op.get_bind().dialect.name == "postgresql":
        InsertionRow.__table__.create(op.get_bind(), checkfirst=True)  # type: ignore[attr-defined]
