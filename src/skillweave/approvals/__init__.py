"""Questions to people at checkpoints: what is asked, what they said, and a log that shows any change to it (spec 8)."""
