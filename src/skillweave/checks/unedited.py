"""The text that `skillweave init` writes into a new skill, which is to be replaced line by line."""

BODY = """\
# {title}

Say in two sentences what is done here and what a good result is.

## When to use it

Requests such as these call for it. `skillweave match` shows whether a request does, and the phrases in
`metadata.triggers` above decide it.

{examples}
## When not to use it

Name the requests that look alike and need something else, and say what.

## What has to be known first

List what must be there before the first step: files, facts, permissions. Say what to ask when something is missing.

## How to do it

1. Write each step as an order to the agent, with the command, tool or file that it needs.
2. Say how to tell that the step worked, and what to do when it did not.
3. Put facts that only some requests need into `references/`.

## Result

Show the form of the result: a short example says more than a description.

## Before handing it over

- Name what has to be checked, and how.
- Name what must never be done.
{files}"""
"""The text of a new skill, with the places `title`, `examples` and `files`."""


def is_scaffold_text(line: str) -> bool:
    """Whether a line is one that a new skill is written with, to be replaced."""
    return line in _TO_REPLACE


_TO_REPLACE = frozenset(
    line
    for line in BODY.splitlines()
    if line and not line.startswith("#") and "{" not in line and "skillweave match" not in line
)
