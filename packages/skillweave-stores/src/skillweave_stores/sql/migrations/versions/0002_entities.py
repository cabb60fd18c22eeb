"""The entity graph: entities with their places, the names that they are found by, and how they are connected."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_LOCATED = (
    "latitude IS NULL AND longitude IS NULL AND datum IS NULL AND band IS NULL"
    " OR latitude IS NOT NULL AND longitude IS NOT NULL AND datum IS NOT NULL AND band IS NOT NULL"
    " AND latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180"
    " AND band <= latitude * 100 AND latitude * 100 < band + 1"
)
_HAS_PLACE = sa.text("band IS NOT NULL")


def _tenant() -> "sa.Column[str]":
    return sa.Column("tenant", sa.String(200), nullable=False, server_default=sa.text("'default'"))


def _key(name: str, *, nullable: bool = False) -> "sa.Column[str]":
    return sa.Column(name, sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=nullable)


def _of_entities(column: str, name: str) -> sa.ForeignKeyConstraint:
    there = ["entities.tenant", "entities.id"]
    return sa.ForeignKeyConstraint(["tenant", column], there, name=name, ondelete="CASCADE")


def upgrade() -> None:
    """Make the three tables with their indexes."""
    op.create_table(
        "entities",
        _tenant(),
        _key("id"),
        _key("label"),
        _key("datum", nullable=True),
        sa.Column("latitude", sa.Double()),
        sa.Column("longitude", sa.Double()),
        sa.Column("band", sa.Integer()),
        sa.Column("aliases", sa.JSON()),
        sa.Column("properties", sa.JSON()),
        sa.PrimaryKeyConstraint("tenant", "id", name="entities_key"),
        sa.CheckConstraint(_LOCATED, name="entities_located"),
    )
    op.create_index(
        "entities_by_place",
        "entities",
        ["tenant", "band", "longitude", "latitude", "datum", "label"],
        postgresql_where=_HAS_PLACE,
        sqlite_where=_HAS_PLACE,
    )
    op.create_table(
        "entity_aliases",
        _tenant(),
        _key("alias_key"),
        _key("entity_id"),
        sa.PrimaryKeyConstraint("tenant", "alias_key", "entity_id", name="entity_aliases_key"),
        _of_entities("entity_id", "entity_aliases_of_entities"),
    )
    op.create_index("entity_aliases_by_entity", "entity_aliases", ["tenant", "entity_id"])
    op.create_table(
        "entity_edges",
        _tenant(),
        _key("source"),
        _key("relation"),
        _key("target"),
        sa.Column("properties", sa.JSON()),
        sa.PrimaryKeyConstraint("tenant", "source", "relation", "target", name="entity_edges_key"),
        _of_entities("source", "entity_edges_from"),
        _of_entities("target", "entity_edges_to"),
    )
    op.create_index("entity_edges_coming", "entity_edges", ["tenant", "target", "relation", "source"])
