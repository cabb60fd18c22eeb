"""Which commands there are: our own, those of other distributions, and those whose distribution is not installed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillweave.errors import SkillweaveError
from skillweave.extensions import CommandSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "skillweave.commands"
"""The group of entry points by which other distributions bring commands; each refers to a CommandSpec."""


def _own(promise: str, module: str, prints: str | Mapping[str, str]) -> CommandSpec:
    def ours(classes: str) -> str:
        return " ".join(f"skillweave.{one}" for one in classes.split())

    shapes = ours(prints) if isinstance(prints, str) else {name: ours(one) for name, one in prints.items()}
    return CommandSpec(promise, f"skillweave.cli.{module}", shapes)


OWN: Mapping[str, CommandSpec] = MappingProxyType(
    {
        "demo": _own(
            "See it work: one conversation over the example skills.",
            "demo",
            "cli.demo:Demo",
        ),
        "weave": _own("Say what to give to the model for a message, and why.", "weave", "injection:Injection"),
        "chat": _own("Talk to a model that is given the right skills.", "chat", "cli.output.turn:Told"),
        "match": _own(
            "Show which skills a message calls for, and which nearly match.", "weave", "select.candidates:Selection"
        ),
        "show": _own(
            "Print the catalog that the model sees, or one skill, with cost.",
            "skills",
            "disclose.catalog:Catalog cli.output.skills:SkillShown",
        ),
        "why": _own(
            "Say turn by turn what was decided about which skill, and why.", "weave", "cli.output.turn:Explained"
        ),
        "check": _own("Find what is wrong with skill files, and fix it.", "check", "cli.output.skills:CheckShown"),
        "compose": _own(
            "Merge several skills into one set of tools and steps.",
            "combine",
            "compose.composition:Composition cli.combine:Validated compose.spawn:SpawnPlan compose.spawn:SpawnRejected",
        ),
        "ledger": _own(
            "Show what a conversation was given, and answer checkpoints.",
            "ledger",
            {
                "list": "cli.ledger:Conversations",
                "show": "cli.ledger:StateShown state.state:Record",
                "evict": "weaver.ledger:Left",
                "clear": "state.state:State",
                "disengage": "weaver.ledger:Left",
                "unload": "weaver.ledger:Left",
                "approve": "weaver.approvals:Judgement",
                "reject": "weaver.approvals:Judgement",
                "reconsider": "cli.ledger:Withdrawn",
            },
        ),
        "entities": _own(
            "Load what is known of things, look at it, and export it.",
            "entities",
            {
                "load": "cli.entities:Pieces",
                "export": "cli.entities:Pieces",
                "show": "cli.entities:EntityShown",
                "near": "knowledge.entity:NearbyEntities",
                "context": "knowledge.shown:ContextShown",
            },
        ),
        "graph": _own(
            "Check a skill graph, draw it, and try it with a script.",
            "graph",
            {
                "next": "graph.answers:Next",
                "reachable": "cli.graph:Reachable",
                "check": "graph.checked:Checkup",
                "simulate": "graph.answers:SimulationShown",
                "show": "graph.answers:GraphShown",
                "draw": "cli.graph:Drawn",
            },
        ),
        "init": _own("Begin a new skill, which passes its own check.", "init", "cli.init:NewSkill"),
        "add": _own(
            "Copy skills of others into your folder of skills, or list them.",
            "add",
            "cli.add:AddedShown cli.add:Installed",
        ),
        "remove": _own("Take an added skill out again.", "add", "cli.add:Removed"),
        "doctor": _own("Find what is missing or wrong with this installation.", "doctor", "cli.health:Health"),
        "schema": _own("Print the JSON Schemas of what --json prints.", "schema", "cli.schema:SchemaList"),
    }
)
"""The engine's own commands, in the order of the help; no guest can take one of these names."""
ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "store": "skillweave-stores",
        **dict.fromkeys(("serve", "gateway", "keys", "approvals"), "skillweave-server"),
        **dict.fromkeys(("eval", "phrases"), "skillweave-eval"),
        **dict.fromkeys(("approve", "scan", "sign", "verify"), "skillweave-trust"),
        **dict.fromkeys(("mcp", "export"), "skillweave-mcp"),
    }
)
"""Which of our distributions brings a command; another one's command of that name is refused."""


@dataclass(frozen=True, slots=True)
class Guests:
    """The commands that other distributions bring, by name, and why some are not taken."""

    taken: Mapping[str, CommandSpec]
    refused: Mapping[str, str]


def find_guests() -> Guests:
    """Returns the commands of all installed distributions; imports only the modules that their entry points name."""
    from importlib.metadata import entry_points

    taken: dict[str, CommandSpec] = {}
    refused: dict[str, str] = {}
    brought: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        brought.setdefault(point.name, []).append(point)
    for name, points in brought.items():
        try:
            taken[name] = _admitted(name, points)
        except SkillweaveError as error:
            refused[name] = str(error)
    return Guests(taken, refused)


def known_commands() -> Mapping[str, CommandSpec]:
    """Returns every command there is here, our own first."""
    return {**OWN, **find_guests().taken}


def _admitted(name: str, points: "list[EntryPoint]") -> CommandSpec:
    packages = sorted({_package(point) for point in points})
    whose = "skillweave" if name in OWN else ELSEWHERE.get(name)
    strangers = [package for package in packages if package != whose] if whose else packages[1:]
    if strangers:
        other = f"{whose} brings" if whose else f"{packages[0]} brings too"
        raise SkillweaveError(
            f"the command {name!r} of the package {strangers[0]} is not used, as {other} one of that name; "
            f"uninstall {strangers[0]}"
        )
    try:
        found = points[0].load()
    except Exception as error:  # a guest's code may raise anything
        message = f"the command {name!r} cannot be loaded ({type(error).__name__}: {error}); reinstall {packages[0]}"
        raise SkillweaveError(message) from error
    if not isinstance(found, CommandSpec):
        raise SkillweaveError(
            f"the command {name!r} cannot be loaded: {points[0].value} is no CommandSpec; reinstall {packages[0]}"
        )
    return found


def _package(point: "EntryPoint") -> str:
    return re.sub(r"[-_.]+", "-", point.dist.name).lower() if point.dist is not None else point.value


def printed_by(commands: Mapping[str, CommandSpec]) -> Iterator[tuple[str, str]]:
    """Yields the name of each command's schema, and the classes of what it prints."""
    for name, spec in commands.items():
        if isinstance(spec.prints, str):
            yield name, spec.prints
        else:
            yield from ((f"{name}-{inner}", classes) for inner, classes in spec.prints.items())
