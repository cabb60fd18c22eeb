"""The engine itself: the vocabularies that tokens are counted in, and one turn from message to text."""

from collections.abc import AsyncIterator, Iterator, Mapping

from skillweave.cli.health.finding import Finding, Level
from skillweave.skill import Json

ENGINE = "engine"
_AGAIN = "install skillweave again"
_SKILL: Mapping[str, Json] = {
    "name": "doctor",
    "description": "Is chosen, when all is well.",
    "triggers": ["is all well"],
}


def look_at_vocabularies() -> Iterator[Finding]:
    """Whether each vocabulary that is shipped can be loaded; none is ever fetched."""
    from skillweave.tokens.counter import DEFAULT_ENCODING, VOCABULARIES, Tiktoken

    for encoding in VOCABULARIES:
        used = ", the default" if encoding == DEFAULT_ENCODING else ""
        try:
            Tiktoken(encoding).warm_up()
        except Exception as error:  # noqa: BLE001 - whatever a broken installation raises is the finding
            yield Finding(ENGINE, encoding, Level.PROBLEM, f"cannot be loaded: {error}", _AGAIN)
        else:
            yield Finding(ENGINE, encoding, Level.OK, f"counts tokens exactly, and offline{used}")


async def look_at_a_turn() -> AsyncIterator[Finding]:
    """Whether a skill is selected and rendered; needs every package that selection and rendering need."""
    try:
        from skillweave.factory import open_weaver

        injection = await open_weaver(_SKILL).weave("Is all well?", conversation="doctor")
    except Exception as error:  # noqa: BLE001 - whatever a broken installation raises is the finding
        yield Finding(ENGINE, "a turn", Level.PROBLEM, f"fails: {type(error).__name__}: {error}", _AGAIN)
        return
    if injection.skills == ("doctor",):
        yield Finding(ENGINE, "a turn", Level.OK, "selects a skill and renders it")
    else:
        yield Finding(ENGINE, "a turn", Level.PROBLEM, "does not select the skill that it must", _AGAIN)
