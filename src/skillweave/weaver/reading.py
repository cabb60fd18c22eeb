"""What skillweave's own tools answer: each read of a skill is a small turn of its own, entered in the ledger."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from skillweave.conversation import Message, Read, Role, Turn
from skillweave.decisions import Decision, Outcome
from skillweave.disclose.render import catalog_line
from skillweave.injection import Drop, Injection
from skillweave.ledger.state import Delivery
from skillweave.select.select import select
from skillweave.weaver.engine import Engine
from skillweave.weaver.tool_table import TOOLS

MOST_FOUND = 10
LONGEST_QUERY = 1000
_SHOWN = 60
_TROUBLES = (Outcome.UNKNOWN, Outcome.FAILED)
_THERE = (Outcome.ALREADY_PRESENT, Outcome.ADOPTED, Outcome.HELD)


class CallFields(TypedDict, total=False):
    """What a host knows of a tool call; `call_id` makes it repeatable: the same id again gives the same answer."""

    call_id: str
    transcript: Sequence[Message] | None
    tools: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the model gets: `text` is to be its tool result as it stands, so that it is recognised again.

    `failed` says that nothing of what was asked for is in the context. `injection` is the turn behind a read, with the
    decisions, the tool policy from now on, and what the host may drop; None where nothing was read.
    """

    text: str
    failed: bool = False
    injection: Injection | None = None

    @property
    def drop(self) -> tuple[Drop, ...]:
        """Texts that the host may take out of the history so that what did not fit does."""
        return () if self.injection is None else self.injection.drop

    def to_dict(self) -> dict[str, object]:
        """The JSON form `{text, failed, injection}`."""
        injection = None if self.injection is None else self.injection.to_dict()
        return {"text": self.text, "failed": self.failed, "injection": injection}


async def read(
    engine: Engine, wanted: Read, conversation: str, fields: CallFields, new_id: Callable[[], str]
) -> ToolAnswer:
    """One read: the skill is engaged as if it had been named, and what is missing of it is given in the answer."""
    transcript, tools = fields.get("transcript"), fields.get("tools")
    turn = Turn(
        id=fields.get("call_id") or new_id(),
        conversation=conversation,
        message=Message(Role.TOOL, ""),
        transcript=None if transcript is None else tuple(transcript),
        reads=(wanted,),
        tools=None if tools is None else tuple(tools),
    )
    return _answer(wanted, await engine.run(turn, Delivery.GIVEN))


async def list_skills(engine: Engine, after: str) -> ToolAnswer:
    """A page of the skills that may be loaded, in the order of their ids."""
    return ToolAnswer((await engine.current()).shelf.page(after))


async def search_skills(engine: Engine, query: str) -> ToolAnswer:
    """The skills whose triggers or words fit best, also those that are not close enough to be selected."""
    compiled = await engine.current()
    shown = {skill.id: skill for skill in compiled.shelf.skills}
    message = Message(Role.USER, query[:LONGEST_QUERY])
    selection = select(compiled.kit, Turn("search", "search", message), matchers=("triggers", "lexical"))
    near = (rejected.candidate for rejected in selection.rejected if rejected.outcome is Outcome.BELOW_THRESHOLD)
    found = [candidate.skill_id for candidate in (*selection.chosen, *near) if candidate.skill_id in shown]
    if not found:
        return ToolAnswer(f"No skill is about that; list_skills shows all {len(shown)}.", failed=True)
    return ToolAnswer("\n".join(catalog_line(shown[skill_id]) for skill_id in found[:MOST_FOUND]))


async def call(
    engine: Engine,
    name: str,
    arguments: Mapping[str, object],
    conversation: str,
    fields: CallFields,
    new_id: Callable[[], str],
) -> ToolAnswer:
    """Any tool of the table by name; a call that cannot be made is answered in words for the model."""
    spec = TOOLS.get(name)
    if spec is None:
        return ToolAnswer(f"there is no tool {name[:_SHOWN]!r} here; there are {', '.join(TOOLS)}", failed=True)
    problem = spec.problem_with(arguments)
    if problem is not None:
        return ToolAnswer(problem, failed=True)
    given = {key: str(value) for key, value in arguments.items() if value}
    if name == "list_skills":
        return await list_skills(engine, given.get("after", ""))
    if name == "search_skills":
        return await search_skills(engine, given["query"])
    wanted = Read(given["skill_id"], given.get("section"), given.get("artifact_id"))
    return await read(engine, wanted, conversation, fields, new_id)


def _answer(wanted: Read, injection: Injection) -> ToolAnswer:
    about = [decision for decision in injection.decisions if decision.skill_id == wanted.skill_id]
    if (wanted.section or wanted.artifact) and len(about) > 1:
        about = about[1:]  # the first is about the skill itself, the others about what was asked for
    given = any(block.skill_id == wanted.skill_id for block in injection.blocks)
    notes = [_note(decision) for decision in about if decision.outcome in _TROUBLES or not given]
    blocks = [message.text for message in injection.messages]
    # The notes come first: what follows a block would belong to it, and it could not be recognised again.
    text = "\n\n".join([*(["\n".join(notes)] if notes else []), *blocks])
    return ToolAnswer(text, not given and not any(decision.outcome in _THERE for decision in about), injection)


def _note(decision: Decision) -> str:
    return f"{decision.skill_id}: {decision.outcome.value}: {decision.reason}"
