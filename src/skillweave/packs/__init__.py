"""Ready sets of skills for a domain; each is an entry point, found by name like those of other packages."""
