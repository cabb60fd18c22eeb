"""What the four tools and the prompts answer: texts for a model, from what the engine decides about a request."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from uuid import uuid4

from skillweave import Budget, CatalogMode, Injection, Message, Outcome, Role, Settings, Skill, Turn, Weaver
from skillweave.ledger import Lifecycle
from skillweave.registry import Snapshot
from skillweave.skills import invocation_of
from skillweave.tools import SkillTools
from skillweave.turns import FileAccess, Read
from skillweave_mcp.entries import Shelf, page_of
from skillweave_mcp.stock import Stock

LONGEST_REQUEST = 8_000
"""Characters of a request that are looked at."""
MOST_TEXT_BYTES = 1 << 20
"""The largest file that a tool's answer holds."""
MOST_TOLD = 12
"""Decisions that `explain` tells."""
MOST_VARIANTS = 16
_FULL = 500_000
"""Tokens that one text may have: what somebody asks for is given whole."""
_LINE = 160


@dataclass(frozen=True, slots=True)
class Answer:
    """The text for the model; `failed` where nothing of what was asked for is in it."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks: the tools that its agent has, None if it does not say, and the conversation of its session.

    Without a conversation, as the protocol has none since July 2026, nothing is noted.
    """

    conversation: str | None = None
    tools: tuple[str, ...] | None = None


def may_use(skill: Skill, tools: Sequence[str] | None) -> bool:
    """Whether somebody with these tools has all that the skill names; None stands for any."""
    if tools is None or skill.tools is None:
        return True
    named = (*(skill.tools.allowed or ()), *skill.tools.preapproved)
    return all(any(fnmatchcase(tool, one.partition("(")[0]) for tool in tools) for one in named)


@dataclass(slots=True)
class Desk:
    """Where visitors ask about the skills of one weaver; for one event loop."""

    weaver: Weaver
    stock: Stock = field(init=False)
    _asking: "OrderedDict[tuple[object, ...], tuple[Snapshot, Weaver]]" = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.stock = Stock(self.weaver)

    async def skills(self, visitor: Visitor) -> dict[str, Skill]:
        """Returns the selectable skills whose tools the visitor has, by id, sorted."""
        active = (await self.weaver.skills.snapshot()).active()
        return {one.id: one for one in sorted(active, key=lambda one: one.id) if may_use(one, visitor.tools)}

    async def shelf(self, visitor: Visitor) -> Shelf:
        """Returns what the extension serves to the visitor."""
        shelf = await self.stock.shelf()
        if visitor.tools is None:
            return shelf
        return Shelf({root: one for root, one in shelf.served.items() if may_use(one.skill, visitor.tools)})

    async def find_skill(self, request: str, visitor: Visitor) -> Answer:
        """Answers what the engine would do: the one skill in full where it is sure, else the shortlist."""
        weaver = await self._weaver(visitor)
        injection = await self._woven(weaver, Message(Role.USER, request[:LONGEST_REQUEST]), visitor)
        if injection.skills:
            return Answer(_told(injection))
        there = (Outcome.ALREADY_PRESENT, Outcome.HELD, Outcome.ADOPTED)
        known = next((one.skill_id for one in injection.decisions if one.outcome in there), None)
        if known is not None:
            return await self.read_skill(known, visitor)
        if injection.tail and injection.offered:
            return Answer(injection.tail)
        return Answer(f"No skill is about that. list_skills shows all {len(await self.skills(visitor))}.")

    async def read_skill(self, name: str, visitor: Visitor) -> Answer:
        """Answers with the skill in full, also where it was given before: the client may not hold it any more."""
        if name not in await self.skills(visitor):
            return Answer(await self._unknown(name, visitor), failed=True)
        weaver = await self._weaver(visitor)
        if visitor.conversation is not None:
            await weaver.evict(visitor.conversation, name)
        injection = await self._woven(weaver, Message(Role.TOOL, ""), visitor, Read(name))
        if injection.skills:
            return Answer(_told(injection))
        why = next((one.reason for one in injection.decisions if one.skill_id == name), "nothing of it can be shown")
        return Answer(f"{name}: {why}", failed=True)

    async def read_file(self, name: str, path: str, visitor: Visitor) -> Answer:
        """Answers with a text file of the skill, byte for byte."""
        skills = await self.skills(visitor)
        served = next((one for one in (await self.shelf(visitor)).served.values() if one.skill.id == name), None)
        if name not in skills or served is None:
            why = (
                "" if name not in skills else f"the files of {name} cannot be served; read_skill({name!r}) has its text"
            )
            return Answer(why or await self._unknown(name, visitor), failed=True)
        data = await self.stock.read(served, path)
        if data is None:
            there = ", ".join(one.path for one in served.manifest.files[:40])
            return Answer(f"{name} has no file {path[:100]!r}; it has {there}", failed=True)
        if len(data) > MOST_TEXT_BYTES or b"\0" in data:
            return Answer(f"{path} is no text of at most 1 MiB; read the resource {served.uri_of(path)}", failed=True)
        try:
            return Answer(data.decode())
        except UnicodeDecodeError:
            return Answer(f"{path} is no text; read the resource {served.uri_of(path)}", failed=True)

    async def list_skills(self, cursor: str | None, visitor: Visitor) -> Answer:
        """Answers with a line for each skill, some hundred at once. Raises InvalidCursor."""
        page, following = page_of(await self.skills(visitor), cursor or None, lambda _: 20)
        lines = [f"- {one.id}: {_short(one.description)}" for one in page] or ["There are no skills."]
        return Answer("\n".join([*lines, *([f"More: list_skills(cursor={following!r})"] if following else [])]))

    async def explain(self, request: str, visitor: Visitor) -> Answer:
        """Answers what was decided about which skill for this request, and why; notes nothing."""
        weaver = await self._weaver(visitor)
        injection = await weaver.preview(request[:LONGEST_REQUEST], conversation=_new(), tools=visitor.tools)
        told = injection.decisions[:MOST_TOLD]
        lines = [f"- {one.skill_id}: {one.outcome.value}: {one.reason}" for one in told]
        return Answer("\n".join(lines) or "No skill was considered: none shares a word or a trigger with the request.")

    async def prompts(self, visitor: Visitor) -> dict[str, Skill]:
        """Returns the skills that a user may call by name, by id, sorted."""
        return {key: one for key, one in (await self.skills(visitor)).items() if invocation_of(one).by_user}

    async def prompt(self, name: str, arguments: str, visitor: Visitor) -> Answer:
        """Answers with the skill that a user called, `arguments` filled in where it has a place for them."""
        weaver = await self._weaver(visitor, ("explicit", "mention"))
        said = Message(Role.USER, f"/{name} {arguments[:LONGEST_REQUEST]}".strip())
        injection = await weaver.preview(said, conversation=_new(), tools=visitor.tools)
        if name not in injection.skills:
            return await self.read_skill(name, visitor)
        return Answer("\n\n".join(part for part in (_told(injection, name), arguments) if part))

    async def _woven(self, weaver: Weaver, message: Message, visitor: Visitor, *reads: Read) -> Injection:
        turn = Turn(_new(), visitor.conversation or _new(), message, reads=reads, tools=visitor.tools)
        return await (weaver.weave(turn) if visitor.conversation is not None else weaver.preview(turn))

    async def _weaver(self, visitor: Visitor, matchers: tuple[str, ...] | None = None) -> Weaver:
        """The weaver that gives one whole text, of a skill that the visitor may use; kept for who comes again."""
        key, snapshot = (visitor.tools, matchers), await self.weaver.skills.snapshot()
        known = self._asking.get(key)
        if known is None or (visitor.tools is not None and known[0] is not snapshot):
            granted = None if visitor.tools is None else frozenset(await self.skills(visitor))
            settings = _asked(self.weaver.settings, granted)
            known = self._asking[key] = snapshot, self.weaver.variant(settings, matchers)
            while len(self._asking) > MOST_VARIANTS:
                self._asking.popitem(last=False)
        return known[1]

    async def _unknown(self, name: str, visitor: Visitor) -> str:
        return f"there is no skill {name[:100]!r}; list_skills shows all {len(await self.skills(visitor))}"


def _asked(settings: Settings, granted: frozenset[str] | None) -> Settings:
    """The settings by which one skill is given whole, or some are offered: a server cannot say more at once."""
    return replace(
        settings,
        budget=Budget(total=4 * _FULL, catalog=0, per_skill=_FULL),
        max_skills=1,
        catalog=CatalogMode.AUTO,
        lifecycle=Lifecycle.MESSAGE,
        files=FileAccess.NONE,
        skill_tools=SkillTools.OFFERED,
        granted=granted if granted is not None else settings.granted,
    )


def _told(injection: Injection, name: str | None = None) -> str:
    """The text of one skill, and the names of those that were given beside it, to be read one by one."""
    chosen = name or injection.skills[0]
    texts = [one.text for one in injection.blocks if one.skill_id == chosen]
    others = [one for one in injection.skills if one != chosen]
    goes = [f"It goes with {', '.join(others)}: read them with read_skill."] if others else []
    return "\n\n".join([*texts, *goes])


def _short(description: str) -> str:
    line = " ".join(description.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1].rstrip()}…"


def _new() -> str:
    return f"mcp-{uuid4().hex}"
