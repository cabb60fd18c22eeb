"""How approvals are kept: their documents, the log that shows any change to it, and the key that seals it (spec 8)."""
