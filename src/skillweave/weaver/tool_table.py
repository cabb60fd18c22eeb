"""skillweave's own tools as a model sees them: names, words and JSON Schemas that never change (spec 5.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from skillweave.codec import Portable
from skillweave.skill import FrozenJson, Json, freeze_mapping


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
