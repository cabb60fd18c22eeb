"""Skills, agents and conversations in a SQL database: one set of tables for SQLite files and PostgreSQL."""
