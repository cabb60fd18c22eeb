"""Alembic's migrations of the tables, run by `skillweave.stores.sql.migrating`."""
