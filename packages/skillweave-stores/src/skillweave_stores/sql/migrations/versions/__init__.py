"""One file for each step; the first makes all tables."""
