"""Entity context, tier 3.5: the port through which a knowledge graph speaks (spec 6)."""
