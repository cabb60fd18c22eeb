"""The codes of what a server of a ledger may lose, whichever server it is."""

MAY_LOSE = "ledger-may-lose-writes"
"""Something that was acknowledged may be lost when the server or its machine ends without warning."""
READ_ONLY = "ledger-read-only"
"""The server takes no writes."""
