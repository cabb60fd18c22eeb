"""What Alembic runs: the migrations on the connection that it was given."""

from alembic import context

from skillweave.stores.sql.tables import Row

context.configure(
    connection=context.config.attributes["connection"], target_metadata=Row.metadata, render_as_batch=True
)
with context.begin_transaction():
    context.run_migrations()
