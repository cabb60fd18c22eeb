"""How an option is written, and the options and sets of them that several commands share, each said once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import typer
from typer import BadParameter

from skillweave.cli import completion
from skillweave.cli.arguments.entities import existing_graph
from skillweave.cli.arguments.ledger import Kept, existing, kept_in
from skillweave.cli.arguments.skills import load, of_project, skills_beside_packs, sources_closed, sources_of

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from skillweave.cachefile import CacheFolder
    from skillweave.conversation import Turn
    from skillweave.events.event import Observer
    from skillweave.graph import SkillGraph
    from skillweave.knowledge.entity import EntityGraph
    from skillweave.registry import Snapshot, Source
    from skillweave.select.candidates import Selection
    from skillweave.select.matchers import Matcher
    from skillweave.settings import Settings
    from skillweave.state.port import Store
    from skillweave.task import Task
    from skillweave.weaver import Weaver

SKILLS, TURN, BUDGET, LEDGER, OUTPUT = "Skills", "The turn", "Selection and budget", "Conversation", "Output"
MODEL, GRAPH, ENTITIES = "The model", "The graph", "Entities"
"""The groups that options stand in, in `--help`."""


def whole_number(given: str | float) -> int:
    """The number, of at least 0; raises BadParameter for anything else."""
    try:
        number = int(str(given))
    except ValueError:
        number = -1
    if number < 0:
        raise BadParameter(f"{str(given)[:40]!r} is not a whole number of at least 0")
    return number


def option(panel: str, spelling: str, help: str, **more: Any) -> Any:  # noqa: A002, ANN401 - as typer.Option has them
    """An option in a panel of `--help`, spelled as the help shows it: `--message -m TEXT`; `more` is for typer."""
    names = [word for word in spelling.split() if word.startswith("-")]
    metavar = next((word for word in spelling.split() if not word.startswith("-")), None)
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


PREPARE_SECONDS = 2.0
"""What matchers have to prepare in where no weaver bounds it, the same as there."""
Paths: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="Folders of skills, SKILL.md files or packs, as with --skills. Default: the skills of this project.",
        show_default=False,
    ),
]
KnownConversation: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="CONVERSATION", help="The id of a conversation.", autocompletion=completion.conversations),
]
File: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A graph or a pack with one (.yaml, .json), or the name of an installed pack, such as support-triage.",
    ),
]


Model: TypeAlias = Annotated[
    str | None,
    option(
        MODEL,
        "--model PROVIDER:NAME",
        "Which model, such as anthropic:claude-sonnet-5; its provider's package and key must be there.",
    ),
]
Skills: TypeAlias = Annotated[
    list[str] | None,
    option(
        SKILLS,
        "--skills DIR-or-FILE",
        "A folder of skills, one SKILL.md, a pack (.yaml, .json), or the URL of a database. Repeatable; of two skills "
        "with one id the first counts. "
        "Default: ./skills, .agents/skills and .claude/skills, else the latter two in your home folder",
    ),
]
Packs: TypeAlias = Annotated[
    list[str] | None,
    option(
        SKILLS,
        "--pack NAME",
        "An installed pack of skills, such as coding; the project need have no skills of its own then. Repeatable.",
        autocompletion=completion.packs,
    ),
]
Graph: TypeAlias = Annotated[
    str | None,
    option(
        SKILLS,
        "--graph FILE",
        "A skill graph (.yaml, .json), used instead of the one that a pack brings.",
    ),
]
FolderOfSkills: TypeAlias = Annotated[
    str, option(SKILLS, "--in DIR", "The folder of skills that this is about; made if need be.")
]
ForAgent: TypeAlias = Annotated[
    str | None,
    option(
        SKILLS,
        "--agent ID",
        "Only the skills of this agent, which a pack describes, with the agent's checkpoints and its budget of tokens.",
    ),
]
Strict: TypeAlias = Annotated[bool, option(SKILLS, "--strict", "Load only what the open Agent Skills format allows.")]
CacheIn: TypeAlias = Annotated[
    str | None,
    option(
        SKILLS,
        "--cache DIR",
        "Where to keep what was read and indexed, so that the next command reads only what changed. Default: the "
        "user's cache folder",
    ),
]
NoCache: TypeAlias = Annotated[bool, option(SKILLS, "--no-cache", "Keep nothing, and read everything anew.")]
Conversation: TypeAlias = Annotated[
    str | None,
    option(
        LEDGER,
        "--conversation ID",
        "The conversation that this turn belongs to, remembered from command to command.",
        autocompletion=completion.conversations,
    ),
]
Ledger: TypeAlias = Annotated[
    str | None,
    option(
        LEDGER,
        "--ledger URL-or-FILE",
        "Where conversations are kept. Default: .skillweave/state.db with --conversation, else nothing is kept.",
    ),
]
KeptLedger: TypeAlias = Annotated[
    str | None, option(LEDGER, "--ledger URL-or-FILE", "Where conversations are kept. Default: .skillweave/state.db")
]
Transcript: TypeAlias = Annotated[
    str | None,
    option(
        TURN,
        "--transcript FILE",
        "All messages that the model will see, as a JSON list of {role, content, id}; what is no longer there is "
        "given again when it is still wanted.",
    ),
]
Results: TypeAlias = Annotated[
    list[str] | None,
    option(
        TURN,
        "--result TOOL=JSON",
        "What a tool answered since the last turn, or TOOL:STATUS=JSON where it failed; routes of a skill graph look "
        "at it. Repeatable, in the order of the calls; MESSAGE may be left out then.",
    ),
]
Memory: TypeAlias = Annotated[
    list[str] | None, option(TURN, "--memory KEY=VALUE", "Working memory, such as entity_id=ship-7. Repeatable.")
]
TaskText: TypeAlias = Annotated[
    str | None, option(TURN, "--task TEXT", "The work as a whole, of which MESSAGE is a part.")
]
Coding: TypeAlias = Annotated[
    bool, option(TURN, "--coding", "The task is about code; task rules of packs may ask for it.")
]
Speaker: TypeAlias = Annotated[
    Literal["user", "assistant"],
    option(TURN, "--role", "Who said MESSAGE; only an assistant's SKILL_SELECT:<id> picks a skill."),
]
Tools: TypeAlias = Annotated[
    list[str] | None,
    option(TURN, "--tool NAME", "A tool that the host offers. Repeatable; without it nothing is assumed."),
]
Where: TypeAlias = Annotated[
    Literal["history", "call"],
    option(TURN, "--placement", "Where the host puts skill text: in the history, where it stays, or into one call."),
]
Catalog: TypeAlias = Annotated[
    Literal["auto", "always", "fallback", "never"],
    option(
        BUDGET,
        "--catalog",
        "When the model sees the list of skills: auto (all in short lines where they fit, else those that may fit the "
        "message), in every call, as a fallback when nothing matches, or never.",
    ),
]
Matchers: TypeAlias = Annotated[
    list[str] | None,
    option(
        BUDGET,
        "--matcher NAME",
        "Run only this matcher: explicit, mention, task, triggers or lexical. Repeatable.",
        autocompletion=completion.matchers,
    ),
]
Mention: TypeAlias = Annotated[
    bool,
    option(
        BUDGET,
        "--mention",
        "Let a user pick a skill by writing /<id> or $<id>; what follows fills $ARGUMENTS in its text.",
    ),
]
Embedder: TypeAlias = Annotated[
    str | None,
    option(
        BUDGET,
        "--embedder NAME",
        "Rank by meaning too, also across languages: multilingual (of skillweave-multilingual), "
        "sentence-transformers:MODEL or openai:MODEL.",
        autocompletion=completion.embedders,
    ),
]
MaxSkills: TypeAlias = Annotated[
    int,
    option(
        BUDGET,
        "--max-skills N",
        "How many skills one turn may select; companions count with theirs.",
        parser=whole_number,
    ),
]
Tokens: TypeAlias = Annotated[
    int, option(BUDGET, "--budget N", "Tokens that skills may take of one call.", parser=whole_number)
]
FittedTo: TypeAlias = Annotated[
    str | None,
    option(BUDGET, "--fitted FILE", "What `skillweave eval fit` fitted to your own queries."),
]
Watch: TypeAlias = Annotated[bool, option(OUTPUT, "--watch", "Go on and check again after every edit, until Ctrl-C.")]
AsJson: TypeAlias = Annotated[bool, option(OUTPUT, "--json", "Print JSON, errors too.")]
Entities: TypeAlias = Annotated[
    str | None,
    option(
        ENTITIES,
        "--entities URL-or-FILE",
        "What is known of the things that conversations are about: a JSON file of entities, sqlite:///FILE or "
        "postgresql://USER:PASSWORD@HOST/NAME.",
    ),
]
EntityTenant: TypeAlias = Annotated[
    str, option(ENTITIES, "--tenant NAME", "Whose entities they are, where several customers share a database.")
]
Ref: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="REF", help="The id of an entity, or one of its other names."),
]
Current: TypeAlias = Annotated[
    str | None,
    option(
        GRAPH,
        "--current ID",
        "The skill that the conversation is in. Default: none, at the start.",
    ),
]


@dataclass(frozen=True, slots=True)
class Reading:
    """Which skills a command reads."""

    skills: Skills = None
    pack: Packs = None
    strict: Strict = False

    def names(self) -> tuple[str, ...]:
        """What is named, or where skills are by default."""
        return skills_beside_packs(self.skills, self.pack)

    def sources(self) -> tuple["Source", ...]:
        """A source for each name; raises Mistake where nothing is named and no skills are where they are by default."""
        return sources_of(self.skills, strict=self.strict, packs=self.pack, cache=self.kept_skills())

    def sources_at_hand(self) -> tuple["Source", ...]:
        """The sources, none where nothing is named and the project has no skills."""
        return self.sources() if self.skills or self.pack or of_project() else ()

    def kept_skills(self) -> "CacheFolder | None":
        """Where what was read is kept; None where nothing is."""
        return None


ReadingT = TypeVar("ReadingT", bound=Reading)


def with_paths(reading: ReadingT, paths: Sequence[str] | None, ctx: typer.Context) -> ReadingT:
    """The paths and what other options name beside them; what is configured is not asked for then."""
    if not paths:
        return reading
    typed = {
        name for name in ("skills", "pack") if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    also = (reading.skills or ()) if "skills" in typed else ()
    return replace(reading, skills=[*paths, *also], pack=reading.pack if "pack" in typed else None)


@dataclass(frozen=True, slots=True)
class Loading(Reading):
    """Which skills a command works on; what was read of them is kept for the next command."""

    cache: CacheIn = None
    no_cache: NoCache = False

    def snapshot(self) -> "Snapshot":
        """All skills that are named, for a command that needs nothing else."""
        import asyncio

        async def loaded() -> "Snapshot":
            async with sources_closed():
                return (await load(self.sources())).snapshot

        return asyncio.run(loaded())

    def kept_skills(self) -> "CacheFolder | None":
        """Where what was read is kept; None with `--no-cache`."""
        from skillweave.cachefile import CacheFolder, default_folder

        if self.no_cache:
            return None
        return CacheFolder(default_folder() if self.cache is None else Path(self.cache))


@dataclass(frozen=True, slots=True)
class OfEntities(Reading):
    """The entities that a command works on; the packs among the skills say what of them is a name, a place, shown."""

    entities: Entities = None
    tenant: EntityTenant = ""

    def existing(self) -> "AbstractAsyncContextManager[EntityGraph]":
        """The graph, which must be there already, open while the context lasts; raises Mistake."""
        return existing_graph(self.entities, self.tenant, self.sources_at_hand())


@dataclass(frozen=True, slots=True)
class LoadingWithGraph(Loading):
    """Which skills and which skill graph a command works on."""

    graph: Graph = None

    async def own_graph(self) -> "tuple[SkillGraph | None, tuple[str, ...]]":
        """The graph of `--graph` with notes about its file, or None. Raises Mistake or InvalidGraph."""
        if self.graph is None:
            return None, ()
        from skillweave.cli.arguments.graph import open_graph

        opened = await open_graph(self.graph)
        return opened.graph, opened.notes


@dataclass(frozen=True, slots=True)
class LoadingWithLedger(Loading):
    """Which skills a command works on, and the ledger that must be there."""

    ledger: KeptLedger = None
    agent: ForAgent = None

    def kept(self, conversation: str) -> Kept:
        """The conversation in that ledger; raises Mistake where there is none, InvalidTurn for a bad id."""
        return existing(self.ledger, conversation)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where a turn is kept, if anywhere."""

    conversation: Conversation = None
    ledger: Ledger = None

    def kept(self) -> Kept:
        """The ledger and the conversation; raises Mistake for an empty name."""
        return kept_in(self.ledger, self.conversation)


@dataclass(frozen=True, slots=True)
class OfTask:
    """What is said of the task that a turn belongs to."""

    task: TaskText = None
    coding: Coding = False

    def stated(self) -> "Task | None":
        """The task; None where nothing is said of it."""
        from skillweave.task import Task

        if self.task is None and not self.coding:
            return None
        return Task(self.task or "", coding=self.coding)


@dataclass(frozen=True, slots=True)
class Selecting:
    """How skills are selected, and what they may cost."""

    catalog: Catalog = "auto"
    matcher: Matchers = None
    embedder: Embedder = None
    mention: Mention = False
    max_skills: MaxSkills = 3
    budget: Tokens = 25_000
    fitted: FittedTo = None

    def weaver(
        self,
        sources: Sequence["Source"],
        store: "Store",
        graph: "SkillGraph | None",
        cache: "CacheFolder | None" = None,
        entities: "EntityGraph | None" = None,
        observers: "Sequence[Observer]" = (),
    ) -> "Weaver":
        """The weaver over these sources; `graph` None means the one of a pack, if any has one."""
        import skillweave

        return skillweave.open(
            *sources,
            ledger=store,
            settings=self.settings(),
            graph=graph,
            matchers=self.matchers(),
            cache=None if cache is None else cache.path,
            entities=entities,
            observers=observers,
        )

    def settings(self) -> "Settings":
        """The settings that are named; raises Mistake for a --fitted file that cannot be read."""
        from skillweave.cli.arguments.turn import settings_of

        return settings_of(catalog=self.catalog, max_skills=self.max_skills, budget=self.budget, fitted=self.fitted)

    async def selection(self, snapshot: "Snapshot", turn: "Turn", cache: "CacheFolder | None" = None) -> "Selection":
        """What a weaver over a snapshot without a skill graph would match; `cache` keeps what is compiled."""
        from skillweave.select.candidates import within_places
        from skillweave.select.index import build_index
        from skillweave.select.matchers import FITTED, make_matchers_ready, prepare_matchers
        from skillweave.select.selection import find_matchers, select

        index, matchers = build_index(snapshot, cache=cache), find_matchers(self.matchers())
        await make_matchers_ready(matchers, index)
        prepared = await prepare_matchers(matchers, index, turn, PREPARE_SECONDS)
        # Settings bring the engine's imports along, which a plain match does without.
        thresholds = FITTED if self.fitted is None else self.settings().thresholds
        found = select(index, turn, matchers=matchers, prepared=prepared, thresholds=thresholds)
        return within_places(found, self.max_skills)

    def matchers(self) -> "tuple[str | Matcher, ...]":
        """The matchers that are named, by name or made; raises SkillweaveError for an embedder that is not there."""
        from skillweave.select.selection import DEFAULT

        named = (*(self.matcher or DEFAULT), *(("mention",) if self.mention else ()))
        if self.embedder is None:
            return named
        from skillweave.factory import with_embedder

        return with_embedder(named, self.embedder)
