"""What a person says of a new skill, checked before anything is written."""

from collections.abc import Sequence

import typer

from skillweave.cli.scaffold.template import PARTS
from skillweave.formats.open_spec import MAX_DESCRIPTION
from skillweave.text.folding import fold

MAX_PHRASE = 200


def require_description(text: str | None) -> str | None:
    """The description on one line; raises BadParameter for one that the open specification does not allow."""
    if text is None:
        return None
    line = " ".join(text.split())
    if not 1 <= len(line) <= MAX_DESCRIPTION:
        raise typer.BadParameter(
            f"a description has 1 to {MAX_DESCRIPTION} characters, this one has {len(line)}",
            param_hint="'--description'",
        )
    return line


def require_phrases(phrases: Sequence[str]) -> tuple[str, ...]:
    """The phrases, once each; raises BadParameter for one that cannot be a trigger."""
    for phrase in phrases:
        if "," in phrase or not any(map(str.isalnum, fold(phrase))) or len(phrase) > MAX_PHRASE:
            raise typer.BadParameter(
                f"{phrase[:60]!r} cannot be a trigger; give words without a comma, {MAX_PHRASE} characters at most, "
                "and --trigger again for each further phrase",
                param_hint="'--trigger'",
            )
    return tuple(dict.fromkeys(" ".join(phrase.split()) for phrase in phrases))


def require_parts(names: str | None) -> tuple[str, ...]:
    """The folders that a list separated by commas names; raises BadParameter for one that the format does not know."""
    parts = tuple(name.strip() for name in (names or "").split(",") if name.strip())
    for part in parts:
        if part not in PARTS:
            raise typer.BadParameter(f"{part[:60]!r} is none of {', '.join(PARTS)}", param_hint="'--with'")
    return parts
