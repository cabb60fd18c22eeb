"""How much a graph in the data form may hold, so that reading and moving stay quick whatever somebody sends."""

MOST_SKILLS = 10_000
MOST_ENTRIES = 10_000
MOST_ROUTES = 50_000
MOST_PHRASES = 10_000
"""Phrases in `never_routes`."""
MOST_ITEMS = 1_000
"""Items of any other list: words, examples, members of `all`, statuses, values of `in`, fields of a guard."""
MOST_DECISIONS = 20_000
DEEPEST_TREE = 200
"""Decisions on the way to a leaf."""
DEEPEST_ALL = 32
"""How deep `all` may stand in `all`."""

LONGEST_ID = 100
LONGEST_LABEL = 1_000
LONGEST_PHRASE = 10_000
"""Characters of a word, an example, an expression, an intent or a guard's text."""
LONGEST_DESCRIPTION = 100_000
LONGEST_BODY = 1_000_000
"""Characters of a skill's text."""
LARGEST_WHOLE = 1_000_000_000
"""The highest count, limit or priority; a priority may be as far below zero."""
