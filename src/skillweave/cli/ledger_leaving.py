"""`skillweave ledger disengage` and `unload`: skills and texts that are to go."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.ledger import Kept, existing, opened, require_known
from skillweave.cli.arguments.skills import sources_at_hand
from skillweave.cli.completion import offers
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Page

if TYPE_CHECKING:
    from skillweave.registry import Source
    from skillweave.weaver import Weaver
    from skillweave.weaver.verdicts import Left

DISENGAGE_EXAMPLES = """
skillweave ledger disengage c1 multilingual-greetings
"""
UNLOAD_EXAMPLES = """
skillweave ledger unload c1 multilingual-greetings
skillweave ledger unload c1 artifact:multilingual-greetings/references/forms-of-address.md
"""


def disengage(
    conversation: options.KnownConversation,
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="A skill's id.", autocompletion=offers.given)],
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Let a skill apply no longer; its text may stay.

    From the next turn on its tool rules and checkpoints are not in force. A message that calls for it engages it
    again. With its skills at hand the answer says which others still need it.
    """
    import asyncio

    sources = sources_at_hand(skills, strict=strict, packs=pack)
    return asyncio.run(_gone(existing(ledger, conversation), sources, lambda weaver: weaver.disengage, skill))


def unload(
    conversation: options.KnownConversation,
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY", help="A skill's id, or a key such as artifact:SKILL/FILE.", autocompletion=offers.given
        ),
    ],
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Let a text go: all of a skill, which is disengaged too, or one of its documents.

    The answer names the messages that can be dropped; the text is given anew when it is wanted again.
    """
    import asyncio

    sources = sources_at_hand(skills, strict=strict, packs=pack)
    return asyncio.run(_gone(existing(ledger, conversation), sources, lambda weaver: weaver.unload, key))


async def _gone(
    kept: Kept,
    sources: "tuple[Source, ...]",
    verb: "Callable[[Weaver], Callable[[str, str], Awaitable[Left]]]",
    key: str,
) -> Answer:
    from skillweave.factory import open_weaver

    async with opened(kept) as store:
        await require_known(store, kept)
        weaver = open_weaver(*sources, ledger=store)
        left = await verb(weaver)(kept.conversation, key)
    return Answer(lambda: {"conversation": kept.conversation, **left.to_dict()}, partial(_text, left))


def _text(left: "Left", page: Page) -> str:
    from skillweave.cli.output.conversation import left_text

    return "\n".join(left_text(left, page))
