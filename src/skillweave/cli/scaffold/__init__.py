"""A new skill: its name checked, its text made, its folder written whole or not at all."""
