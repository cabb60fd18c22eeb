"""Phrases: what people would type, written once for each skill by a model, and checked (spec 2.7)."""
