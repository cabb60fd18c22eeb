"""The first migration that later ones follow: an older database is brought here by `make_tables`."""

revision = "0003"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Does nothing: a database without tables gets those of the newest form."""
