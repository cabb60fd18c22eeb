"""Scripts of skills: in a sandbox that says what it held, on a copy of what was approved, and never by themselves."""
