"""Alembic's migrations of the tables, run by `skillweave_stores.sql.migrating`."""
