"""What a conversation was given and what is engaged in it: one versioned value, pure steps (spec 5.4)."""
