"""Whether a skill helps: its evaluation prompts answered by a real model with it and without it (spec 9)."""
