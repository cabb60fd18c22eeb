"""`skillweave ledger`: what a conversation was given, letting it go, and what people say at a skill's checkpoints."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import (
    DEFAULT_CONVERSATION,
    Kept,
    existing,
    opened,
    require_known,
    unknown_conversation,
)
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, extended

if TYPE_CHECKING:
    from skillweave.conversation import ToolCall
    from skillweave.injection import PendingCheckpoint
    from skillweave.registry import Source
    from skillweave.state.state import Engaged, Record, State
    from skillweave.weaver import Weaver
    from skillweave.weaver.approvals import Judgement
    from skillweave.weaver.ledger import Left

EXAMPLES = {
    "list": """
skillweave ledger list
skillweave ledger list --prefix support/ --limit 20 --json
""",
    "show": """
skillweave ledger show c1
skillweave ledger show c1 multilingual-greetings --json
""",
    "evict": """
skillweave ledger evict c1 multilingual-greetings
skillweave ledger evict c1 artifact:multilingual-greetings/references/forms-of-address.md
""",
    "clear": """
skillweave ledger clear c1
""",
    "disengage": """
skillweave ledger disengage c1 multilingual-greetings
""",
    "unload": """
skillweave ledger unload c1 multilingual-greetings
skillweave ledger unload c1 artifact:multilingual-greetings/references/forms-of-address.md
""",
    "approve": """
skillweave ledger approve c1 invoice-checking payment_release --by "Ann Lee" \\
    --call '{"id": "call_1", "tool": "pay_invoice", "arguments": {"number": "INV-20417"}}'
skillweave ledger approve c1 contract-clause-review lawyer_sign_off --by "Ann Lee"
""",
    "reject": """
skillweave ledger reject c1 invoice-checking payment_release --by "Ann Lee"
""",
    "reconsider": """
skillweave ledger reconsider c1 invoice-checking payment_release
""",
    "consent": """
skillweave ledger consent c1 invoice-checking --by "Ann Lee"
""",
}

_SAID = "The verdict"
_GIVEN = typer.Argument(
    metavar="KEY", help="A skill's id, or a key such as artifact:SKILL/FILE.", autocompletion=completion.skill_ids
)
_Skill = Annotated[str, typer.Argument(metavar="SKILL", help="A skill's id.", autocompletion=completion.skill_ids)]
_Checkpoint = Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The name of one of its checkpoints.")]
_By = Annotated[str | None, options.option(_SAID, "--by NAME", "Who says so. Default: your user name.")]
_Note = Annotated[str, options.option(_SAID, "--note TEXT", "A remark, kept with it.")]
_Call = Annotated[
    str | None,
    options.option(_SAID, "--call JSON", "The call that it is about, as in the question: id, tool and arguments."),
]
_Arguments = Annotated[
    str | None, options.option(_SAID, "--arguments JSON", "What the call is to run with instead, all of it.")
]


async def list_(
    prefix: Annotated[
        str, options.option(options.LEDGER, "--prefix TEXT", "Only conversations whose id begins so.")
    ] = "",
    limit: Annotated[
        int,
        options.option(
            options.LEDGER, "--limit N", "At most so many, in the order of their ids.", parser=options.whole_number
        ),
    ] = 100,
    ledger: options.KeptLedger = None,
) -> Answer:
    """List the conversations that are kept, with the skills that apply in each."""
    from skillweave.cli.output.ledger import Conversations, ConversationShown, conversations_text

    kept = existing(ledger, DEFAULT_CONVERSATION)
    async with opened(kept) as store:
        names = await store.conversations(prefix, limit)
        states = [(await store.load(name))[0] for name in names]
        total = await store.count()
    shown = tuple(
        ConversationShown(name, state.revision, tuple(one.skill_id for one in state.engaged), len(state.records))
        for name, state in zip(names, states, strict=True)
    )
    found = Conversations(total, shown)
    return Answer(lambda: found, partial(conversations_text, found))


async def show(
    conversation: options.KnownConversation,
    key: Annotated[str | None, _GIVEN] = None,
    *,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Show what a conversation was given, which skills apply, and what people decided.

    With --skills it also shows which checkpoints still wait for a person.
    """
    from skillweave.cli.output.ledger import RecordShown, StateShown, row_text, state_text

    sources = loading.sources_at_hand()
    kept = loading.kept(conversation)
    async with opened(kept) as store:
        state, _ = await store.load(conversation)
    if state.revision == 0:
        raise unknown_conversation(kept)
    if key is not None:
        record = _record(state, key, kept)
        return Answer(partial(RecordShown, conversation, record), partial(row_text, record))
    pending = await _pending(state, sources, loading.agent)
    return Answer(
        partial(extended, StateShown, state, conversation=conversation, checkpoints=pending),
        partial(state_text, state, pending or ()),
    )


async def evict(
    conversation: options.KnownConversation, key: Annotated[str, _GIVEN], ledger: options.KeptLedger = None
) -> Answer:
    """Forget that a skill was given, so that it is given again."""
    from skillweave.cli.output.ledger import left_text
    from skillweave.weaver.ledger import Left

    kept = existing(ledger, conversation)
    async with _weaver((), kept) as weaver:
        record = _record(await weaver.ledger.state(conversation), key, kept)
        await weaver.evict(conversation, record.key)
    left = Left(record.key, evicted=(record.key,))
    return Answer(lambda: left, partial(left_text, left))


async def clear(conversation: options.KnownConversation, ledger: options.KeptLedger = None) -> Answer:
    """Forget everything about a conversation but its decisions."""
    import skillweave
    from skillweave.cli.output.ledger import Cleared

    kept = existing(ledger, conversation)
    async with opened(kept) as store:
        # Nothing is looked up first: what cannot be read any more must still be possible to remove.
        if not await skillweave.open(ledger=store).ledger.clear(conversation):
            raise unknown_conversation(kept)
    return Answer(
        partial(Cleared, conversation),
        lambda page: page.entry("cleared", f"{conversation}; its decisions stay for `skillweave why`", Ink.GOOD),
    )


async def disengage(
    conversation: options.KnownConversation, skill: _Skill, *, loading: options.LoadingWithLedger
) -> Answer:
    """Stop a skill from applying; its text may stay.

    From the next turn on its tool rules and checkpoints do not count. A message that calls for it engages it again.
    With --skills the answer says which other skills still need it.
    """
    async with _weaver(loading.sources_at_hand(), loading.kept(conversation), loading.agent) as weaver:
        left = await weaver.ledger.disengage(conversation, skill)
    return _gone(left)


async def unload(
    conversation: options.KnownConversation, key: Annotated[str, _GIVEN], *, loading: options.LoadingWithLedger
) -> Answer:
    """Take a text out: a whole skill, which is disengaged too, or one of its documents.

    The answer names the messages that you can drop from the history. The text is given again when it is wanted again.
    """
    async with _weaver(loading.sources_at_hand(), loading.kept(conversation), loading.agent) as weaver:
        left = await weaver.ledger.unload(conversation, key)
    return _gone(left)


async def approve(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    by: _By = None,
    note: _Note = "",
    *,
    call: _Call = None,
    arguments: _Arguments = None,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Let one call through a checkpoint, or with no --call the skill, until its text changes.

    A checkpoint before a tool asks about each call, unless it has `scope: conversation`.
    """
    verdict = "approved" if arguments is None else "modified"
    shown, changed = _call_in(call), None if arguments is None else _object_in(arguments, "--arguments")
    async with _weaver(loading.sources(), loading.kept(conversation), loading.agent) as weaver:
        said = await weaver.approvals.decide(
            conversation, skill, checkpoint, verdict, by=_person(by), note=note, call=shown, arguments=changed
        )
    return _judged(said)


async def reject(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    by: _By = None,
    note: _Note = "",
    *,
    call: _Call = None,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Stop one call at a checkpoint, or with no --call the skill: it leaves the conversation and stays out.

    A call that was stopped stays denied with these arguments. With no --call the tool that the checkpoint stands before
    stays denied. Both last until `reconsider`, or `approve` of the same.
    """
    shown = _call_in(call)
    async with _weaver(loading.sources(), loading.kept(conversation), loading.agent) as weaver:
        said = await weaver.approvals.decide(
            conversation, skill, checkpoint, "rejected", by=_person(by), note=note, call=shown
        )
    return _judged(said)


async def consent(
    conversation: options.KnownConversation, skill: _Skill, by: _By = None, *, loading: options.LoadingWithLedger
) -> Answer:
    """Agree that the tools that a skill preapproves run without asking, until its text changes."""
    async with _weaver(loading.sources(), loading.kept(conversation), loading.agent) as weaver:
        said = await weaver.approvals.consent(conversation, skill, by=_person(by))
    return _judged(said)


async def reconsider(
    conversation: options.KnownConversation,
    skill: _Skill,
    checkpoint: _Checkpoint,
    *,
    loading: options.LoadingWithLedger,
) -> Answer:
    """Take back what was said at a checkpoint, so that it asks again.

    A rejected skill may come back then. To take back a consent, name the checkpoint preapproved-tools.
    """
    from skillweave.cli.output.ledger import Withdrawn, withdrawn_text

    async with _weaver(loading.sources(), loading.kept(conversation), loading.agent) as weaver:
        withdrawn = await weaver.approvals.reconsider(conversation, skill, checkpoint)
    return Answer(partial(Withdrawn, conversation, tuple(withdrawn)), partial(withdrawn_text, withdrawn))


@asynccontextmanager
async def _weaver(sources: "Sequence[Source]", kept: Kept, agent: str | None = None) -> "AsyncIterator[Weaver]":
    """A weaver over the ledger; raises Mistake where that knows nothing of the conversation."""
    import skillweave

    async with opened(kept, sources) as store:
        await require_known(store, kept)
        weaver = skillweave.open(*sources, ledger=store)
        yield weaver if agent is None else await weaver.for_agent(agent)


def _gone(left: "Left") -> Answer:
    from skillweave.cli.output.ledger import left_text

    return Answer(lambda: left, partial(left_text, left))


def _judged(said: "Judgement") -> Answer:
    from skillweave.cli.output.ledger import judged_text

    return Answer(lambda: said, partial(judged_text, said))


async def _pending(
    state: "State", sources: "Sequence[Source]", agent: str | None
) -> "tuple[PendingCheckpoint, ...] | None":
    """What waits for a person in the skills that are in force; None where no skills are at hand to say so."""
    from skillweave.cli.arguments.skills import load, seen_by
    from skillweave.relations.rules import all_requirements
    from skillweave.state.approvals import digests_shown, kept_out
    from skillweave.turn.policy import pending_checkpoints

    if not sources:
        return None
    if not state.engaged and not state.approvals and not state.restraining:
        return ()
    known = seen_by(agent, (await load(sources)).snapshot)

    def with_companions(entries: "Sequence[Engaged]") -> dict[str, None]:
        heads = [entry.skill_id for entry in entries]
        return dict.fromkeys((*heads, *(one.rule.skill for one in all_requirements(heads, known))))

    names, waiting = with_companions(state.engaged), with_companions(state.restraining)
    out = dict.fromkeys((*kept_out(state.approvals, known), *(name for name in waiting if name not in names)))
    found = [known.skills[name] for name in names if name in known.skills and name not in out]
    kept = [known.skills[name] for name in out if name in known.skills]
    return pending_checkpoints(found, state.approvals, kept, digests_shown((*state.engaged, *state.restraining), known))


def _call_in(text: str | None) -> "ToolCall | None":
    from skillweave.conversation import ToolCall

    if text is None:
        return None
    call = _object_in(text, "--call")
    names, wanted = sorted(call), ("arguments", "id", "tool")
    if names != sorted(wanted) or not isinstance(call["arguments"], dict):
        raise Mistake(
            f"--call has {', '.join(names)[:60] or 'nothing'}; it is the `call` of a question: "
            '{"id": "call_1", "tool": "pay", "arguments": {"amount": 5}}'
        )
    return ToolCall(str(call["id"]), str(call["tool"]), call["arguments"])


def _object_in(text: str, option: str) -> dict[str, Any]:
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Mistake(f"{option} is no JSON ({str(error)[:80]}); give one object in quotes") from None
    if not isinstance(found, dict):
        raise Mistake(f"{option} is {type(found).__name__}, not a JSON object; give one object in quotes")
    return found


def _person(by: str | None) -> str:
    from getpass import getuser

    if by is not None:
        return by
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        raise Mistake("this system has no name for you; say who decides with --by NAME") from None


def _record(state: "State", key: str, kept: Kept) -> "Record":
    from skillweave.state.state import full_key

    if state.revision == 0:
        raise unknown_conversation(kept)
    record = state.record(full_key(key))
    if record is None:
        known = ", ".join(known.key for known in state.records[:10]) or "none"
        raise Mistake(f"conversation {kept.conversation!r} was not given {key[:100]!r}; what it was given: {known}")
    return record
