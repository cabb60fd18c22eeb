"""How much of each skill to show inside one budget of real tokens, and the text that is written (spec 5)."""
