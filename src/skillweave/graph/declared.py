"""What a graph declares: frozen values that every spelling is read into (spec 3.1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from skillweave.errors import InvalidGraph
from skillweave.frozen import EMPTY
from skillweave.graph.conditions import Condition, Regex
from skillweave.graph.guards import Guard, Scales
from skillweave.graph.scoring import Scorer
from skillweave.graph.shape import ANY_SKILL
from skillweave.skill import FrozenJson, Skill

ANY = ANY_SKILL[0]
"""As `from_` of a route: any skill but the one it leads to."""

STATUSES = ("success", "failure", "denied", "invalid", "partial", "pending", "absent")
"""The statuses of a tool result."""


@dataclass(frozen=True, slots=True)
class GraphSkill:
    """A skill in a graph: `tools` it may use (None: not stated), its text in `body`, other keys of data in `extra`."""

    id: str
    description: str = ""
    tools: tuple[str, ...] | None = None
    body: str = ""
    extra: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a conversation may begin; without a condition, always. `base` skills are engaged beside the cursor too.

    `examples` are phrases that must begin here: test material, nothing is routed on them.
    """

    skill: str
    condition: Condition | None = None
    examples: tuple[str, ...] = ()
    label: str | None = None
    base: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """A way to another skill if all conditions hold; without any only the model takes it. `on_tool` may be a Regex."""

    from_: str
    to: str
    condition: Condition | None = None
    on_tool: str | Regex | None = None
    on_status: tuple[str, ...] = ()
    guard: Guard | None = None
    label: str | None = None
    priority: int = 0

    @property
    def is_deterministic(self) -> bool:
        """Whether it can fire by itself."""
        return not (self.condition is None and self.on_tool is None and not self.on_status and self.guard is None)


@dataclass(frozen=True, slots=True)
class Decide:
    """An inner node of a decision tree: `then` where the condition holds, else `otherwise`; a leaf is a skill's id."""

    condition: Condition
    then: "TreeNode"
    otherwise: "TreeNode"
    label: str | None = None


TreeNode: TypeAlias = str | Decide


class EntryPick(StrEnum):
    """How the entry is chosen where no scorer does it: in the order of declaration, or by the model's `read_skill`."""

    DECLARATION = "declaration"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run stops, None for no limit; `visits_of` are the limits of single skills and win over `visits`."""

    visits: int | None = None
    visits_of: Mapping[str, int] = field(default=EMPTY, hash=False)
    all_visits: int | None = None
    iterations: int | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """A whole graph: entries and routes, or a tree with its `default` leaf for conditions that raise.

    `suppress` has reasons by code; `listed` if `skills` was written out, so that other ids are unknown.
    """

    skills: tuple[GraphSkill, ...] = ()
    entries: tuple[Entry, ...] = ()
    routes: tuple[Route, ...] = ()
    tree: TreeNode | None = None
    default: str | None = None
    pick: EntryPick | Scorer = EntryPick.DECLARATION
    never_routes: tuple[str, ...] = ()
    scales: Scales = field(default=EMPTY, hash=False)
    limits: Limits = Limits()
    suppress: Mapping[str, str] = field(default=EMPTY, hash=False)
    listed: bool = True


def require_tree_or_routes(declared: Declared) -> None:
    """Raise InvalidGraph where a tree stands beside entries or routes, or a default leaf stands without a tree."""
    if declared.tree is None:
        if declared.default is not None:
            raise InvalidGraph(f"default names {declared.default!r}, but there is no tree; remove it or add a tree")
        return
    beside = {
        "entries": bool(declared.entries),
        "routes": bool(declared.routes),
        "never_routes": bool(declared.never_routes),
        "pick": declared.pick is EntryPick.READ,
    }
    parts = [name for name, there in beside.items() if there]
    if parts:
        raise InvalidGraph(
            f"a graph is a tree or has entries and routes; this one has a tree and {', '.join(parts)}: keep one of them"
        )


def nodes_of(tree: TreeNode | None) -> Iterator[TreeNode]:
    """Decisions and leaves, depth first; a decision that several branches share comes once."""
    waiting: list[TreeNode] = [] if tree is None else [tree]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += (node.otherwise, node.then)


def leaf_ids(tree: TreeNode | None, default: str | None = None) -> tuple[str, ...]:
    """All leaf skills in depth-first order, once each; the default one last where it stands nowhere else."""
    found = dict.fromkeys(node for node in nodes_of(tree) if isinstance(node, str))
    if tree is not None and default is not None:
        found.setdefault(default)
    return tuple(found)


def graph_skill(skill: Skill) -> GraphSkill:
    """A skill as a graph knows it: its tools by name, without the patterns of their arguments."""
    rules = skill.tools
    named = None if rules is None or rules.allowed is None else (entry.partition("(")[0] for entry in rules.allowed)
    tools = None if named is None else tuple(dict.fromkeys(named))
    text = skill.text
    body = "\n".join(part for part in (text.instructions, *text.steps) if part)
    return GraphSkill(skill.id, skill.description, tools, body)


def with_loaded_skills(declared: Declared, skills: Mapping[str, Skill]) -> Declared:
    """The graph, its skills completed by the loaded ones: description, tools and text where the graph has none."""
    return replace(declared, skills=tuple(_filled(one, skills) for one in declared.skills))


def _filled(known: GraphSkill, skills: Mapping[str, Skill]) -> GraphSkill:
    skill = skills.get(known.id)
    if skill is None:
        return known
    found = graph_skill(skill)
    return replace(
        known,
        description=known.description or found.description,
        tools=found.tools if known.tools is None else known.tools,
        body=known.body or found.body,
    )
