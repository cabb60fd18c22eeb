"""The tools as values that any framework can wrap: a name, a description, a JSON Schema, a function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .executor import Executor
from .plain import edit, write
from .running import Limits
from .scratch import Refused, Scratch
from .specifications import Specifications

Actions = Mapping[str, tuple[Callable[..., str], tuple[str, ...]]]
"""By its name, the function of an action and the parameters that it takes."""


@dataclass(frozen=True, slots=True)
class CodingTool:
    """One tool; `run` takes what the model wrote and never raises for it: mistakes are answered in words."""

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., str]

    def run(self, /, **arguments: object) -> str:
        """The result, for the model."""
        try:
            return self.function(**self._texts(arguments))
        except Refused as refused:
            return f"refused: {refused}"
        except OSError as error:
            return f"failed: {error.strerror or type(error).__name__}"

    def _texts(self, arguments: Mapping[str, object]) -> dict[str, str]:
        known: dict[str, Any] = self.parameters["properties"]
        for name, value in arguments.items():
            if name not in known:
                raise Refused(f"{self.name} has no parameter {name[:40]!r}; it has {', '.join(known)}")
            if not isinstance(value, str):
                raise Refused(f"`{name}` is {type(value).__name__}; give a text")
        for name in self.parameters["required"]:
            if name not in arguments:
                raise Refused(f"`{name}` is missing; give it")
        return {name: str(value) for name, value in arguments.items()}


def coding_tools(workspace: Path, limits: Limits | None = None) -> tuple[CodingTool, ...]:
    """`specKit`, `opencode-executor`, `write` and `edit` over one folder."""
    scratch = Scratch(workspace)
    specifications, executor = Specifications(scratch), Executor(scratch, limits)
    spec_actions: Actions = {
        "write": (specifications.write, ("name", "text")),
        "read": (specifications.read, ("name",)),
        "list": (specifications.list, ()),
    }
    code_actions: Actions = {
        "write_file": (executor.write_file, ("path", "text")),
        "show": (executor.show, ("path",)),
        "run_python": (executor.run_python, ("path",)),
        "run_tests": (executor.run_tests, ()),
    }
    return (
        CodingTool(
            "specKit",
            "Keeps specifications. write stores one (its acceptance criteria are numbered, each with an example), read "
            "gives one, list names all.",
            _schema({"name": "A short name such as `login`.", "text": "The specification in Markdown."}, spec_actions),
            partial(_act, spec_actions),
        ),
        CodingTool(
            "opencode-executor",
            "Changes and runs Python code in the project's folder. write_file makes or replaces a file, show gives a "
            "file (or the list of files), run_python runs a file, run_tests runs all test*.py files with unittest.",
            _schema({"path": "A path inside the folder.", "text": "The whole text of the file."}, code_actions),
            partial(_act, code_actions),
        ),
        CodingTool(
            "write",
            "Writes a file.",
            _schema({"path": "A path inside the folder.", "text": "The whole text."}, required=("path", "text")),
            partial(write, scratch),
        ),
        CodingTool(
            "edit",
            "Replaces a passage in a file.",
            _schema(
                {"path": "A path inside the folder.", "old": "The passage.", "new": "What stands there instead."},
                required=("path", "old", "new"),
            ),
            partial(edit, scratch),
        ),
    )


def _act(actions: Actions, action: str, **arguments: str) -> str:
    if action not in actions:
        raise Refused(f"there is no action {action[:40]!r}; there are {', '.join(actions)}")
    function, wanted = actions[action]
    missing = [name for name in wanted if name not in arguments and (action, name) != ("show", "path")]
    if missing:
        raise Refused(f"{action} needs `{missing[0]}`; give it")
    return function(*(arguments.get(name, "") for name in wanted))


def _schema(texts: Mapping[str, str], actions: Actions | None = None, required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties: dict[str, Any] = {name: {"type": "string", "description": text} for name, text in texts.items()}
    if actions is not None:
        properties = {"action": {"type": "string", "enum": list(actions)}, **properties}
        required = ("action",)
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
