"""skillweave's own tools: what a model sees of them, and what they answer (spec 5.1)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import ClassVar, TypedDict, Unpack, cast

from skillweave.blocking import M, Verb
from skillweave.codec import Portable
from skillweave.conversation import Message, Placement, Read, Role, Turn, require_known
from skillweave.decisions import Decision, Outcome
from skillweave.disclose.block import Escaped, Rung
from skillweave.disclose.sections import READ
from skillweave.errors import StoreUnavailable
from skillweave.frozen import FrozenJson
from skillweave.injection import Drop, Injection
from skillweave.limits import ToolLimits
from skillweave.select.lexical import MATCHERS_OF_WORDS
from skillweave.select.matchers import Matchers, Prepared, Thresholds, prepare_matchers
from skillweave.select.selection import LONGEST_ID, find_matchers, select
from skillweave.skill import Json, Skill, freeze_mapping
from skillweave.state.state import Delivery, is_read_apart
from skillweave.turn.library import Library
from skillweave.weaver.engine import Engine, View


@dataclass(frozen=True, slots=True)
class ToolSpec(Portable):
    """One tool: what a host declares to its model; `parameters` is a JSON Schema of an object of texts."""

    name: str
    description: str
    parameters: Mapping[str, FrozenJson] = field(hash=False)

    def problem_with(self, arguments: Mapping[str, object]) -> str | None:
        """What is wrong with a call's arguments, in words for the model; None when nothing is."""
        known = cast("Mapping[str, object]", self.parameters["properties"])
        for name in cast("tuple[str, ...]", self.parameters["required"]):
            if not arguments.get(name):
                return f"{self.name} needs {name}; call it again with {name}"
        for name, value in arguments.items():
            if name not in known:
                return f"{self.name} takes {', '.join(known) or 'no argument'}, not {name[:60]!r}"
            if value is not None and not isinstance(value, str):
                return f"{name} of {self.name} is a text, not {type(value).__name__}; call it again with a text"
        return None


def _spec(name: str, description: str, required: Mapping[str, str], optional: Mapping[str, str]) -> ToolSpec:
    properties: dict[str, Json] = {
        argument: {"type": "string", "description": text} for argument, text in {**required, **optional}.items()
    }
    schema: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name, description, freeze_mapping(schema))


_SECTION = "The number of a section, such as 2.1, as its table of contents lists it."

TOOLS: Mapping[str, ToolSpec] = MappingProxyType(
    {
        spec.name: spec
        for spec in (
            _spec(
                "read_skill",
                "Load a skill: instructions for a kind of task. Long ones come as a table of contents whose sections "
                "are read one by one.",
                {"skill_id": "The id of the skill."},
                {"section": _SECTION},
            ),
            _spec(
                "list_skills",
                "List the skills that can be loaded, each with its id and what it is for.",
                {},
                {"after": "Go on after this id, when an earlier list said that there are more."},
            ),
            _spec(
                "read_artifact",
                "Read a document that belongs to a skill. Long ones come as a table of contents.",
                {"skill_id": "The id of the skill.", "artifact_id": "The document, as the skill lists it."},
                {"section": _SECTION},
            ),
            _spec(
                "search_skills",
                "Find the skills that fit a task.",
                {"query": "What is to be done, in a few words."},
                {},
            ),
        )
    }
)
"""The tool table, in the order in which a host declares it."""


MOST_FOUND = 8
SEARCH_TOKENS = 290
"""The most that an answer to `search_skills` takes."""
NEXT_CALL = "Call read_skill with the id of the one that fits; if none does, search again in other words."
DECLARED = frozenset({"pattern", "keyword", "verb"})
"""Kinds of evidence that a skill's author declared."""
LONGEST_QUERY = 1000
_SHOWN = 60
_OURS = Skill("", "", "")
_TROUBLES = (Outcome.UNKNOWN, Outcome.FAILED)
_THERE = (Outcome.ALREADY_PRESENT, Outcome.ADOPTED, Outcome.HELD)


class CallFields(TypedDict, total=False):
    """What a host knows of a tool call; `call_id` makes it repeatable: the same call again gets the same answer.

    `transcript` is what the model was sent and said until now. Calls of one reply may run at the same time, each with
    the same transcript.
    `limits` are those of the calling agent's turns, where it was spawned: without them the tool policy from now on is
    wider than its plan. In call `placement` a skill that is loaded stands in the system prompt from the next call on,
    and the answer only says so; sections and documents are in the answer in both. Without it, that of the
    conversation's latest turn counts, which takes one more look into the ledger.
    """

    call_id: str
    transcript: Sequence[Message] | None
    tools: Sequence[str] | None
    limits: ToolLimits | None
    placement: Placement


@dataclass(frozen=True, slots=True)
class ToolAnswer(Portable):
    """What the model gets: `text` is to be its tool result as it stands, so that it is recognised again.

    `failed` says that nothing of what was asked for is in the context; where it did not fit, `drop` are the texts that
    the host may take out of the history so that it does. `injection` is the turn behind a read, with the decisions and
    the tool policy from now on; None where nothing was read.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("text", "failed", "drop", "injection")

    text: str
    failed: bool = False
    injection: Injection | None = None
    drop: tuple[Drop, ...] = ()


async def _read(engine: Engine, wanted: Read, conversation: str, fields: CallFields) -> ToolAnswer:
    """One read: the skill is engaged as if it had been named, and what is missing of it is given in the answer."""
    require_known(fields, CallFields.__optional_keys__)
    transcript, tools = fields.get("transcript"), fields.get("tools")
    turn = Turn(
        id=_turn_id(fields.get("call_id") or engine.new_id(), wanted),
        conversation=conversation,
        message=Message(Role.TOOL, ""),
        transcript=None if transcript is None else tuple(transcript),
        reads=(wanted,),
        tools=None if tools is None else tuple(tools),
        limits=fields.get("limits"),
        placement=await _placement(engine, conversation, fields),
    )
    return _answer(wanted, await engine.run(turn, Delivery.GIVEN))


async def _placement(engine: Engine, conversation: str, fields: CallFields) -> Placement:
    if "placement" in fields:
        return Placement(fields["placement"])
    try:
        state, _ = await engine.watched.ledger.load(conversation, tenant=engine.tenant)
    except StoreUnavailable:
        return Placement.HISTORY  # the read itself meets the same ledger, and says so
    return Placement.HISTORY if state.in_call is None else Placement.CALL


async def _search_skills(engine: Engine, query: str) -> ToolAnswer:
    """The skills that fit the query best by the ranking of the turns, whether likely enough to be offered or not."""
    library = await engine.library()
    turn = Turn("search", "search", Message(Role.USER, query[:LONGEST_QUERY]))
    ranking = tuple(matcher for matcher in engine.matchers.asked if matcher.name in MATCHERS_OF_WORDS)
    matchers = find_matchers(ranking or ("lexical",))
    prepared = await prepare_matchers(matchers, library.index, turn, engine.fetch_seconds)
    # In a thread: where no turn is matched by words, the first search builds the index of words.
    found = await asyncio.to_thread(_found, library, turn, matchers, prepared)
    if not found:
        return ToolAnswer(f"No skill is about that; list_skills shows all {len(library.catalog.skills)}.", failed=True)
    lines = library.catalog.found(found, SEARCH_TOKENS - library.catalog.pricing.count(f"\n{NEXT_CALL}"))
    return ToolAnswer(f"{lines.text}\n{NEXT_CALL}")


def _found(library: Library, turn: Turn, matchers: Matchers, prepared: Prepared) -> list[str]:
    """The ids, best first: what a declared trigger names, then the ranking."""
    every = Thresholds(give_at=1.0, offer_at=0.0, offer_most=MOST_FOUND)
    named = select(library.index, turn, matchers=("triggers",)).chosen
    selection = select(library.index, turn, matchers=matchers, prepared=prepared, thresholds=every)
    near = (out.candidate for out in selection.rejected if out.outcome is Outcome.BELOW_THRESHOLD)
    declared = (one for one in named if any(piece.kind in DECLARED for piece in one.evidence))
    order = (*declared, *selection.chosen, *selection.offered, *near, *named)
    shown = library.catalog.by_id
    return [skill_id for skill_id in dict.fromkeys(one.skill_id for one in order) if skill_id in shown][:MOST_FOUND]


async def _call(
    engine: Engine, name: str, arguments: Mapping[str, object] | None, conversation: str, fields: CallFields
) -> ToolAnswer:
    """Any tool of the table by name; a call that cannot be made is answered in words for the model."""
    require_known(fields, CallFields.__optional_keys__)
    spec = TOOLS.get(name)
    if spec is None:
        return ToolAnswer(f"there is no tool {name[:_SHOWN]!r} here; there are {', '.join(TOOLS)}", failed=True)
    said: object = arguments or {}
    if not isinstance(said, Mapping):
        return ToolAnswer(f"the arguments of {name} are no JSON object; call again with one", failed=True)
    plain = {key: value.strip() if isinstance(value, str) else value for key, value in said.items()}
    problem = spec.problem_with(plain)
    if problem is not None:
        return ToolAnswer(problem, failed=True)
    given = {key: str(value) for key, value in plain.items() if value}
    if name == "list_skills":
        return ToolAnswer((await engine.library()).catalog.page(given.get("after", "")))
    if name == "search_skills":
        return await _search_skills(engine, given["query"])
    wanted = Read(given["skill_id"], given.get("section"), given.get("artifact_id"))
    return await _read(engine, wanted, conversation, fields)


def _turn_id(call_id: str, wanted: Read) -> str:
    # Not every host's call ids are different: what is asked for tells two calls apart.
    asked = repr((wanted.skill_id, wanted.section, wanted.artifact))
    return f"{call_id}:{sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _answer(wanted: Read, injection: Injection) -> ToolAnswer:
    about = [decision for decision in injection.decisions if decision.skill_id == wanted.skill_id[:LONGEST_ID]]
    given = _is_given(wanted, injection, about)
    troubles = [decision for decision in about if decision.outcome in _TROUBLES]
    told = troubles if given else _verdicts(wanted, about)
    notes = [Escaped(_OURS).line(f"{one.skill_id}: {one.outcome.value}: {one.reason}") for one in told]
    if injection.placement is Placement.CALL:
        of_skill = [block for block in injection.blocks if block.skill_id == wanted.skill_id]
        blocks = [block.text for block in of_skill if any(map(is_read_apart, block.keys))]
        if given and not blocks:
            notes.append(f"{wanted.skill_id}: loaded; it stands in the system prompt from the next call on")
    else:
        blocks = [message.text for message in injection.messages]
    # The notes come first: what follows a block would belong to it, and it could not be recognised again.
    text = "\n\n".join([*(["\n".join(notes)] if notes else []), *blocks])
    failed = not given and not any(decision.outcome in _THERE for decision in told)
    refused = failed and any(decision.outcome is Outcome.OVER_BUDGET for decision in told)
    return ToolAnswer(text, failed, injection, injection.drop if refused else ())


def _is_given(wanted: Read, injection: Injection, about: Sequence[Decision]) -> bool:
    """Whether what was asked for is in this answer: more than the line of a catalog, or than the outline beside it."""
    blocks = [block for block in injection.blocks if block.skill_id == wanted.skill_id and block.rung > Rung.CATALOG]
    refused = any(decision.stage == READ and decision.outcome is Outcome.OVER_BUDGET for decision in about)
    return any(is_read_apart(key) for block in blocks for key in block.keys) if refused else bool(blocks)


def _verdicts(wanted: Read, about: Sequence[Decision]) -> Sequence[Decision]:
    """The decisions on what was asked for: on the part, where a part was."""
    if not (wanted.section or wanted.artifact):
        return about
    read = [decision for decision in about if decision.stage == READ]
    return read or [decision for decision in about if decision.outcome in _TROUBLES] or about


class ToolsView(View[M]):
    """`weaver.tools`: skillweave's own tools, by which a model loads, lists and finds skills."""

    @Verb
    async def call(
        self, name: str, arguments: Mapping[str, object] | None, *, conversation: str, **fields: Unpack[CallFields]
    ) -> ToolAnswer:
        """Answers any of the tools by its name, as the model called it; never raises for what the model wrote.

        `arguments` None stands for what was not a JSON object.
        """
        return await _call(self._engine, name, arguments, conversation, fields)

    @Verb
    async def read_skill(
        self, skill_id: str, section: str | None = None, *, conversation: str, **fields: Unpack[CallFields]
    ) -> ToolAnswer:
        """Answers the model's call of `read_skill`: with the skill, its outline, or one of its sections.

        What is in the context already is answered by one line that says where; an unknown skill or section by one that
        names the known ones. Counts as given on return.
        """
        return await _read(self._engine, Read(skill_id, section), conversation, fields)

    @Verb
    async def read_artifact(
        self,
        skill_id: str,
        artifact_id: str,
        section: str | None = None,
        *,
        conversation: str,
        **fields: Unpack[CallFields],
    ) -> ToolAnswer:
        """Answers the model's call of `read_artifact`: with a document of a skill, or a section of it."""
        return await _read(self._engine, Read(skill_id, section, artifact_id), conversation, fields)

    @Verb
    async def list_skills(self, after: str = "") -> ToolAnswer:
        """Lists the skills with ids after `after`, as many as the catalog's budget holds."""
        return ToolAnswer((await self._engine.library()).catalog.page(after))

    @Verb
    async def search_skills(self, query: str) -> ToolAnswer:
        """Finds the skills that fit the words best, best first, in at most 300 tokens, and says what to call next."""
        return await _search_skills(self._engine, query)
