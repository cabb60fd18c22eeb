"""`skillweave ledger approve`, `reject`, `reconsider` and `consent`: what people say at a skill's checkpoints."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.ledger import Kept, existing, opened, require_known
from skillweave.cli.arguments.skills import sources_of
from skillweave.cli.completion import offers
from skillweave.cli.failure import Mistake
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.registry import Source
    from skillweave.state.state import Approval
    from skillweave.weaver import Weaver
    from skillweave.weaver.verdicts import Judgement

APPROVE_EXAMPLES = """
skillweave ledger approve c1 invoice-checking payment_release
skillweave ledger approve c1 invoice-checking payment_release --by "Ann Lee" --note "up to 500"
"""
REJECT_EXAMPLES = """
skillweave ledger reject c1 invoice-checking payment_release --by "Ann Lee"
"""
RECONSIDER_EXAMPLES = """
skillweave ledger reconsider c1 invoice-checking payment_release
"""
CONSENT_EXAMPLES = """
skillweave ledger consent c1 invoice-checking --by "Ann Lee"
"""

_SAID = "The verdict"
_Skill = Annotated[str, typer.Argument(metavar="SKILL", help="A skill's id.", autocompletion=offers.given)]
_Checkpoint = Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The name of one of its checkpoints.")]
_By = Annotated[
    str | None,
    typer.Option("--by", metavar="NAME", help="Who says so. Default: your user name.", rich_help_panel=_SAID),
]
_Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="A remark, kept with it.", rich_help_panel=_SAID)]


def approve(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    by: _By = None,
    note: _Note = "",
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Let a skill through a checkpoint, until its text changes."""
    sources = sources_of(skills, strict=strict, packs=pack)
    return _decided(
        existing(ledger, conversation),
        sources,
        lambda weaver: weaver.decide(conversation, skill, checkpoint, "approved", by=_person(by), note=note),
    )


def reject(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    by: _By = None,
    note: _Note = "",
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Stop a skill at a checkpoint: it leaves the conversation and stays out.

    The tool that the checkpoint stands before stays denied, until `approve` or `reconsider`.
    """
    sources = sources_of(skills, strict=strict, packs=pack)
    return _decided(
        existing(ledger, conversation),
        sources,
        lambda weaver: weaver.decide(conversation, skill, checkpoint, "rejected", by=_person(by), note=note),
    )


def consent(
    conversation: options.KnownConversation,
    skill: _Skill,
    by: _By = None,
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Agree that the tools that a skill preapproves run unasked, until its text changes."""
    sources = sources_of(skills, strict=strict, packs=pack)
    return _decided(
        existing(ledger, conversation),
        sources,
        lambda weaver: weaver.consent(conversation, skill, by=_person(by)),
    )


def reconsider(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    ledger: options.KeptLedger = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Withdraw what was said at a checkpoint, so that it asks again.

    A rejected skill may come back then. To withdraw consent, name the checkpoint preapproved-tools.
    """
    import asyncio

    sources = sources_of(skills, strict=strict, packs=pack)
    return asyncio.run(_withdrawn(existing(ledger, conversation), sources, skill, checkpoint))


def _decided(kept: Kept, sources: "Sequence[Source]", verdict: "Callable[[Weaver], Awaitable[Judgement]]") -> Answer:
    import asyncio

    judgement = asyncio.run(_said(kept, sources, verdict))
    return Answer(lambda: {"conversation": kept.conversation, **judgement.to_dict()}, partial(_text, judgement))


async def _said(
    kept: Kept, sources: "Sequence[Source]", verdict: "Callable[[Weaver], Awaitable[Judgement]]"
) -> "Judgement":
    from skillweave.factory import open_weaver

    async with opened(kept) as store:
        await require_known(store, kept)
        weaver = open_weaver(*sources, ledger=store)
        return await verdict(weaver)


async def _withdrawn(kept: Kept, sources: "Sequence[Source]", skill: str, checkpoint: str) -> Answer:
    from skillweave.factory import open_weaver

    async with opened(kept) as store:
        await require_known(store, kept)
        weaver = open_weaver(*sources, ledger=store)
        withdrawn = await weaver.reconsider(kept.conversation, skill, checkpoint)
    return Answer(
        lambda: {"conversation": kept.conversation, "withdrawn": [one.to_dict() for one in withdrawn]},
        lambda page: "\n".join(_taken_back(withdrawn, page)),
    )


def _person(by: str | None) -> str:
    from getpass import getuser

    if by is not None:
        return by
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        raise Mistake("this system has no name for you; say who decides with --by NAME") from None


def _text(judgement: "Judgement", page: Page) -> str:
    from skillweave.cli.output.conversation import approval_text, kept_out_text, waiting_turns_text

    lines = [approval_text(judgement.approval, page)]
    if judgement.left is not None:
        lines += kept_out_text(judgement.left, page)
    return "\n".join([*lines, *waiting_turns_text(judgement.resumed, page)])


def _taken_back(withdrawn: "Sequence[Approval]", page: Page) -> list[str]:
    from skillweave.cli.output.conversation import approval_text

    if not withdrawn:
        return [page.entry("unchanged", "nobody has decided this", Ink.FAINT)]
    return [
        page.entry("withdrawn", "it asks again; this was said:", Ink.GOOD),
        *(approval_text(a, page) for a in withdrawn),
    ]
