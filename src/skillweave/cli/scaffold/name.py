"""A name that is a folder, an id and a name of the open specification all at once."""

import re
from unicodedata import combining, normalize

from skillweave.cli.failure import Mistake
from skillweave.formats.identity import id_of
from skillweave.formats.open_spec import MAX_NAME

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_BREAKS = re.compile(r"[_-]+")


def require_name(name: str) -> str:
    """The name itself; raises Mistake with the rule that it breaks and the name that it was meant to be."""
    if _NAME.fullmatch(name) and len(name) <= MAX_NAME:
        return name
    raise Mistake(
        f"{name[:100]!r} cannot be the name of a skill: use lowercase letters a to z, digits and single hyphens "
        f"between them, {MAX_NAME} characters at most; {_advice(name)}"
    )


def repaired(name: str) -> str:
    """The nearest name that is allowed: `My_Skill` as `my-skill`, `Café` as `cafe`."""
    plain = "".join(letter for letter in normalize("NFKD", name.strip()) if not combining(letter))
    if not any(map(str.isalnum, plain)):
        return "my-skill"
    words = _BREAKS.split(id_of(plain).lower())
    return "-".join(word for word in words if word)[:MAX_NAME].rstrip("-")


def _advice(name: str) -> str:
    if re.search(r"[/\\]", name):
        *above, last = re.split(r"[/\\]", name.rstrip("/\\"))
        return f"try {repaired(last)} --in {'/'.join(above) or '/'}" if last else "give the folder with --in"
    return f"try {repaired(name)}"
