"""The verbs of `SkillSets` without `await`."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from skillweave.compose.composition import Composition, Mode
from skillweave.compose.spawn import SpawnPlan, SpawnRejected, SpawnRequest
from skillweave.diagnostics import Diagnostic
from skillweave.relations.task import TaskSelection
from skillweave.relations.validate import Completion, ValidationResult
from skillweave.task import Task
from skillweave.weaver.skill_sets import Spawner

if TYPE_CHECKING:
    from skillweave.weaver.blocking import LoopThread
    from skillweave.weaver.weaver import Weaver


class SyncSkillSets:
    """The part of a SyncWeaver that answers about skills by name."""

    _weaver: "Weaver"
    _thread: "LoopThread"

    def select_skills(self, task: Task) -> list[str]:
        """See `Weaver.select_skills`."""
        return self._thread.run(self._weaver.select_skills(task))

    def explain_task(self, task: Task) -> TaskSelection:
        """See `Weaver.explain_task`."""
        return self._thread.run(self._weaver.explain_task(task))

    def complete(self, names: Iterable[str]) -> Completion:
        """See `Weaver.complete`."""
        return self._thread.run(self._weaver.complete(names))

    def validate(self, names: Iterable[str], host_tools: Iterable[str] | None = None) -> ValidationResult:
        """See `Weaver.validate`."""
        return self._thread.run(self._weaver.validate(names, host_tools))

    def compose(self, names: Iterable[str], mode: Mode | str = Mode.UNION) -> Composition:
        """See `Weaver.compose`."""
        return self._thread.run(self._weaver.compose(names, mode))

    def check_output(self, skill_id: str, output: object) -> tuple[Diagnostic, ...]:
        """See `Weaver.check_output`."""
        return self._thread.run(self._weaver.check_output(skill_id, output))

    def prepare_spawn(
        self,
        request: SpawnRequest | Mapping[str, object],
        *,
        parent: Spawner | None = None,
        spawn_id: str | None = None,
        tools: Iterable[str] | None = None,
    ) -> SpawnPlan | SpawnRejected:
        """See `Weaver.prepare_spawn`."""
        return self._thread.run(self._weaver.prepare_spawn(request, parent=parent, spawn_id=spawn_id, tools=tools))

    def spawned(self, plan: SpawnPlan) -> None:
        """See `Weaver.spawned`."""
        return self._thread.run(self._weaver.spawned(plan))
