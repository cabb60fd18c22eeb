"""Values for options from a file and from the environment, checked like flags; nothing is read before it is asked for.

In rising precedence: default, `skillweave.toml` or `[tool.skillweave]`, `SKILLWEAVE_*`, flag (spec 8, CLI).
"""
