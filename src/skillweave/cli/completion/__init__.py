"""Completion in the shell: its script, and what it offers."""
