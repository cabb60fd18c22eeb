"""The data form of a graph and of a moment in it: read strictly, written in its smallest form (spec 3.1)."""
