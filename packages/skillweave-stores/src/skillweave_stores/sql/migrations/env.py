"""What Alembic runs: the migrations on the connection that it was given."""

from alembic import context

from skillweave_stores.sql.tables import Row

if __name__ == "env_py":  # as Alembic calls it; whoever imports it by its own name migrates nothing
    context.configure(
        connection=context.config.attributes["connection"], target_metadata=Row.metadata, render_as_batch=True
    )
    with context.begin_transaction():
        context.run_migrations()
