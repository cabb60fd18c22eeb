"""The tool with which a model starts a sub-agent, in any framework: its words, its checks, its bounds (spec 4.4)."""

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from typing import TypeVar, cast

from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import Call
from skillweave.compose.spawn import SpawnPlan, SpawnRejected, SpawnRequest
from skillweave.errors import InvalidSpawn, SkillweaveError, StoreUnavailable
from skillweave.settings import Settings
from skillweave.skill import Json, freeze_mapping
from skillweave.state.state import Lifecycle
from skillweave.weaver import Weaver
from skillweave.weaver.tools import ToolSpec

T = TypeVar("T")

log = logging.getLogger("skillweave")

_SILENT = "what is in force here cannot be read or kept now; try again later"


def _text(description: str) -> dict[str, Json]:
    return {"type": "string", "description": description}


SPAWN_TOOL = ToolSpec(
    "spawn_subagent",
    "Give a task to a sub-agent of its own, and get its last words. It knows nothing of this conversation, has the "
    "skills that are named, and may never do what is forbidden to you. If it is refused, the answer says what to ask "
    "for.",
    freeze_mapping(
        {
            "type": "object",
            "properties": {
                "task": _text("The whole task, with everything that the sub-agent has to know."),
                "skills": {
                    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                    "description": "The ids of its skills, companions included; it may use their tools only. Left out "
                    "it is bound as you are, an empty list leaves it no tool.",
                },
                "label": _text("A short name for it."),
                "model": _text("The model that it is to use; leave it out unless you were told which there are."),
                "thinking": _text("How hard it is to think; leave it out unless you were told which levels there are."),
            },
            "required": ["task"],
            "additionalProperties": False,
        }
    ),
)
"""What a host declares to its model; the parameters are those of seed 002."""


@dataclass(frozen=True, slots=True)
class SpawnBounds:
    """How far an agent's spawning goes: generations below it, and sub-agents of it at a time in this process.

    `answer` is the most characters of a sub-agent's last words that its parent is given.
    """

    depth: int = 3
    parallel: int = 4
    answer: int = 20_000


class Spawning:
    """What one agent may spawn: an agent that a person talks to, or with a `plan` a sub-agent.

    `check` is asked about each request before anything is prepared, and raises InvalidSpawn, in words for the model,
    where the host cannot start it as it is asked for. `passing` are the exceptions with which the framework steers its
    runs; every other one that ends a sub-agent is told to its parent.
    """

    def __init__(
        self,
        weaver: Weaver,
        *,
        plan: SpawnPlan | None = None,
        bounds: SpawnBounds | None = None,
        check: Callable[[SpawnRequest], object] = lambda _: None,
        passing: tuple[type[Exception], ...] = (),
    ) -> None:
        self._weaver = weaver
        self.bridge = Bridge(weaver.variant(_all_that_is_engaged(weaver.settings)), plan=plan)
        self._bounds = bounds or SpawnBounds()
        self._check = check
        self._passing = passing
        self._running: set[str] = set()
        self._lock = Lock()

    @property
    def left(self) -> int:
        """Generations that may still follow; an agent with 0 is not given the tool."""
        return self._bounds.depth

    def names_below(self, tools: Sequence[str]) -> list[str]:
        """The names of all that a sub-agent may be offered: the host's tools, and this one while it may go on."""
        return [*tools, SPAWN_TOOL.name] if self.left > 1 else list(tools)

    def within(self, plan: SpawnPlan) -> "Spawning":
        """What the sub-agent of the plan may spawn: a generation less, and nothing beyond its plan."""
        below = replace(self._bounds, depth=self._bounds.depth - 1)
        return Spawning(self._weaver, plan=plan, bounds=below, check=self._check, passing=self._passing)

    async def run(
        self,
        call: Call,
        conversation: str,
        tools: Sequence[str],
        start: Callable[[SpawnPlan], Awaitable[str]],
        *,
        bridge: Bridge | None = None,
    ) -> str:
        """The answer to a call of the tool: the sub-agent's last words, or why there is none.

        `conversation` is that of the agent which calls, `tools` are the names of those that the host has for the
        sub-agent. `start` runs it to its end; nothing is started unless everything is in order. A call that is made
        again has the same plan and the same conversation. `bridge` is that of the agent which calls, where the host
        knows it.
        """
        plan = await self._prepared(call, conversation, tools, bridge or self.bridge)
        if isinstance(plan, str):
            return plan
        with self._child(plan) as answer:
            await self._weaver.composition.spawned(plan)
            answer.said(plan, await start(plan), self._bounds.answer)
        return answer.text

    def run_blocking(
        self,
        call: Call,
        conversation: str,
        tools: Sequence[str],
        start: Callable[[SpawnPlan], str],
        *,
        bridge: Bridge | None = None,
    ) -> str:
        """What `run` does, for a host that does not await; `start` runs in the caller's thread."""
        plan = self._weaver.sync.run(self._prepared(call, conversation, tools, bridge or self.bridge))
        if isinstance(plan, str):
            return plan
        with self._child(plan) as answer:
            self._weaver.sync.composition.spawned(plan)
            answer.said(plan, start(plan), self._bounds.answer)
        return answer.text

    async def _prepared(self, call: Call, conversation: str, tools: Sequence[str], caller: Bridge) -> SpawnPlan | str:
        """The plan, with its place among those that run taken; or words for the model."""
        if self.left < 1:
            return _refused("this agent is of the last generation and may start no other; do the task yourself")
        try:
            request = request_in(call)
            self._check(request)
            limits = await caller.limits_in(conversation)
            parent = await caller.weaver.current_policy(conversation, limits=limits, placement=caller.placement)
            if parent.without_ledger:
                # What it may do at most stands there.
                return _refused(_SILENT)
            plan = await self._weaver.composition.prepare_spawn(
                request, parent=parent, spawn_id=spawn_id_of(call), tools=tools
            )
        except InvalidSpawn as error:
            return _refused(str(error))
        except StoreUnavailable:
            return _refused(_SILENT)
        if isinstance(plan, SpawnRejected):
            return rejection(plan)
        return self._take_place(plan) or plan

    def _take_place(self, plan: SpawnPlan) -> str:
        parent = plan.conversation.rpartition("/")[0]
        with self._lock:
            if plan.conversation in self._running:
                return _refused("this very call runs already; wait for its answer")
            if sum(other.rpartition("/")[0] == parent for other in self._running) >= self._bounds.parallel:
                return _refused(
                    f"{self._bounds.parallel} sub-agents of yours run, and no more may at a time; "
                    "ask again when one of them has answered"
                )
            self._running.add(plan.conversation)
        return ""

    @contextmanager
    def _child(self, plan: SpawnPlan) -> Iterator["_Answer"]:
        answer = _Answer()
        try:
            yield answer
        except self._passing:
            raise
        except SkillweaveError as error:
            answer.text = f"the sub-agent failed: {error}"
        except Exception as error:
            # It does not end the agent that asked. The text of a stranger's error may hold what no provider is to read.
            log.warning("the sub-agent of conversation %r failed", plan.conversation, exc_info=True)
            answer.text = f"the sub-agent failed with {type(error).__name__}, and its work may be unfinished"
        finally:
            with self._lock:
                self._running.discard(plan.conversation)


@dataclass(slots=True)
class _Answer:
    text: str = ""

    def said(self, plan: SpawnPlan, words: str, most: int) -> None:
        """Keep the sub-agent's last words, cut to their bound, and what its plan warns of."""
        cut = f"\n(cut: the first {most} of {len(words)} characters)" if len(words) > most else ""
        warned = "".join(f"\n(warning: {warning})" for warning in plan.warnings)
        self.text = f"{words[:most].strip() or '(it ended without a word)'}{cut}{warned}"


def _all_that_is_engaged(settings: Settings) -> Settings:
    """Settings in which everything binds that the agent's own turns left engaged, under whatever limits those have."""
    pinned = {skill_id: life for skill_id, life in settings.lifecycles.items() if life is Lifecycle.PINNED}
    for_all = Lifecycle.PINNED if settings.lifecycle is Lifecycle.PINNED else Lifecycle.CONVERSATION
    return replace(settings, lifecycle=for_all, lifecycles=pinned)


def same_for_all(model: T) -> Callable[[SpawnRequest], T]:
    """The one model that a host has for its sub-agents; a request that chooses raises InvalidSpawn, in words."""

    def chosen(request: SpawnRequest) -> T:
        for name in ("model", "thinking"):
            if getattr(request, name) is not None:
                raise InvalidSpawn(f"`{name}` cannot be chosen here; leave it out")
        return model

    return chosen


def request_in(call: Call) -> SpawnRequest:
    """What the model asked for; raises InvalidSpawn, in words for the model, for what is no such request."""
    if call.arguments is None:
        raise InvalidSpawn(call.problem or "the arguments are not a JSON object; call again with one")
    known = cast("Mapping[str, object]", SPAWN_TOOL.parameters["properties"])
    unknown = [str(name) for name in call.arguments if name not in known]
    if unknown:
        raise InvalidSpawn(f"{SPAWN_TOOL.name} has no parameter {unknown[0][:60]!r}; it takes {', '.join(known)}")
    return SpawnRequest.from_dict(call.arguments)


def spawn_id_of(call: Call) -> str | None:
    """The id of the spawn that a call is: the same for a call that is made again, None for one without an id.

    The arguments are part of it, as some providers number the calls of every reply anew.
    """
    if not call.id:
        return None
    asked = json.dumps([call.id, call.arguments], sort_keys=True, default=str)
    return sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def rejection(rejected: SpawnRejected) -> str:
    """The rejection for the model: in words, then its structured errors as JSON."""
    data = rejected.to_dict()
    told = {name: data[name] for name in ("state", "errors", "completion")}
    return f"{rejected.message}\n{json.dumps(told, ensure_ascii=False)}"


def _refused(why: str) -> str:
    return f"the sub-agent is not started: {why}"
