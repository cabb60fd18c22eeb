"""Commands for skills that are kept in a database."""
