"""How many tokens a text costs: the counter's port, and a real vocabulary that works offline (spec 5.2)."""
