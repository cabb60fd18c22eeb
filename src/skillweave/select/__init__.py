"""Which skills this turn calls for, ranked and with evidence; knows nothing of what was given before (spec 2)."""
