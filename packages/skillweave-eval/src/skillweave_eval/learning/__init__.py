"""Learning from use: which skill was right, told by what happened after it was given or offered (spec 2.6)."""
