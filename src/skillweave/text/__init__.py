"""Text as the matchers see it: folded, cut into words, searched for phrases and patterns, and ranked (spec 2.2)."""
