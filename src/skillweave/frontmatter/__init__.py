"""The only reader and writer of `---` fences and of YAML (spec 1.2)."""
