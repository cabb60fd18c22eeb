"""Scorers that come with the package: by shared words, by BM25, by meaning (spec 3.4)."""
