"""What a skill promises to produce, and whether it was produced: JSON Schema on values of others (seed 002)."""
