"""`run_script`: the tool by which a model has a script of a skill run, once somebody said yes to this very run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave import Skill, Status
from skillweave.errors import SkillweaveError
from skillweave.registry import Packaged
from skillweave.tools import ToolSpec
from skillweave.values import freeze_mapping
from skillweave_trust.approvals import Approvals
from skillweave_trust.scripts.runners import Runner
from skillweave_trust.scripts.running import run_staged
from skillweave_trust.scripts.values import Ended, Limits, ScriptAnswer, ScriptRefused, check_arguments

__all__ = ["RUN_SCRIPT", "Scripts"]

RUN_SCRIPT = ToolSpec(
    "run_script",
    "Run a script of a loaded skill in a sandbox: no network, nothing of the machine but the skill. "
    "What it writes into its current folder is listed. A person has to approve each run.",
    freeze_mapping(
        {
            "type": "object",
            "properties": {
                "skill_id": {"type": "string", "description": "The id of the skill."},
                "path": {"type": "string", "description": "The script, as the skill lists it."},
                "arguments": {"type": "array", "items": {"type": "string"}, "description": "Its arguments."},
            },
            "required": ["skill_id", "path"],
            "additionalProperties": False,
        }
    ),
)
"""What a host declares to its model; only where a runner is configured."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """The scripts of one source's skills, the runner that is configured for them, and the user's approvals."""

    source: Packaged
    runner: Runner
    approvals: Approvals
    limits: Limits = field(default_factory=Limits)

    async def run(self, skill: Skill, path: str, arguments: object = ()) -> ScriptAnswer:
        """Runs a script whose run was approved, and uses the approval up, however the run ends.

        Raises ScriptRefused naming what is missing: a skill that is let in, its files, a yes to this very run.
        """
        given = check_arguments(arguments)
        if skill.status is Status.QUARANTINED:
            raise ScriptRefused(
                f"'{skill.id}' is quarantined; approve the skill first, `skillweave approve {skill.id}`"
            )
        package = (await self.source.packages([skill], {})).get(skill.id)
        if package is None or package.manifest is None:
            raise ScriptRefused(f"'{skill.id}' has no files that can be run; its source gives no whole folder")
        manifest = package.manifest
        if manifest.file(path) is None:
            scripts = ", ".join(one.path for one in manifest.files if one.path.startswith("scripts/"))[:300]
            raise ScriptRefused(f"'{skill.id}' has no file {path[:100]!r}; its scripts are: {scripts or 'none'}")
        if not self.approvals.consume_run(manifest, path, given):
            words = " ".join(json.dumps(one, ensure_ascii=False) for one in given)
            raise ScriptRefused(
                f"nobody approved this run of '{path}'; a person lets it run once by "
                f"`skillweave approve {skill.id} --run {path} -- {words}`".rstrip("` -")
                + "`"
            )
        files = {one.path: await self.source.read_file(skill, one.path) for one in manifest.files}
        return await run_staged(files, manifest, path, given, self.runner, self.limits)

    async def call(self, skills: Mapping[str, Skill], arguments: Mapping[str, object] | None) -> tuple[str, bool]:
        """Answers the model's call: its text, and whether it failed; never raises for what the model wrote."""
        said = arguments or {}
        skill_id, path = said.get("skill_id"), said.get("path")
        strange = sorted(set(map(str, said)) - {"skill_id", "path", "arguments"})
        if strange:
            return f"run_script takes skill_id, path and arguments, not {strange[0][:60]!r}", True
        if not isinstance(skill_id, str) or not isinstance(path, str):
            return "run_script needs skill_id and path, both texts; call it again with them", True
        skill = skills.get(skill_id)
        if skill is None:
            return f"no skill has the id {skill_id[:100]!r}; list_skills shows all", True
        try:
            answer = await self.run(skill, path, said.get("arguments") or ())
        except SkillweaveError as error:
            return f"not run: {error}", True
        return answer_text(answer), answer.exit_code != 0


def answer_text(answer: ScriptAnswer) -> str:
    """What the model reads of a run: how it ended, what it wrote, what held, then its output."""
    how = (
        f"exit code {answer.exit_code}" if answer.ended is Ended.BY_ITSELF else f"ended by its limit of {answer.ended}"
    )
    written = ", ".join(f"{one.path} ({one.size} bytes)" for one in answer.written) or "nothing"
    bounds = f"held {', '.join(answer.held)}; not held: {', '.join(answer.not_held) or 'nothing'}"
    lines = [f"{answer.runner}: {how} after {answer.seconds} s; wrote {written}; {bounds}"]
    lines += [
        f"{name}:\n{text.rstrip()}" for name, text in (("stdout", answer.stdout), ("stderr", answer.stderr)) if text
    ]
    return "\n".join(lines)
