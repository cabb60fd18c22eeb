"""How skills stand to each other: what they require and exclude, which go together, which may enter (spec 4.1)."""
