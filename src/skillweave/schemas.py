"""The published JSON Schemas of what skillweave writes, derived from the classes of the values."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from enum import Enum, StrEnum
from pkgutil import resolve_name
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from skillweave.codec import Hint, Key, is_free, keys_of, union_arms, words_of
from skillweave.errors import SkillweaveError, nearest_names

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAMING = "$schema"
"""The first key of what commands print with `--json`: the id of its schema."""
OF_COMMANDS = 1
"""The version of what commands print: grows when a key goes or changes its meaning; a new key leaves it as it is."""

SHAPES: Mapping[str, tuple[str, int]] = {
    "agent": ("skillweave.registry:Agent", 1),
    "agent-page": ("skillweave.api:AgentPage", 1),
    "approval-case": ("skillweave.approvals.case:ApprovalCase", 1),
    "approval-log-page": ("skillweave.api:LogPage", 1),
    "approval-page": ("skillweave.api:ApprovalPage", 1),
    "approval-reply": ("skillweave.approvals.case:ApprovalReply", 1),
    "approval-request": ("skillweave.approvals.case:ApprovalRequest", 1),
    "artifact-page": ("skillweave.api:ArtifactPage", 1),
    "authorize-request": ("skillweave.api:AuthorizeRequest", 1),
    "changes": ("skillweave.registry:Changes", 1),
    "check-report": ("skillweave.api:CheckReport", 1),
    "check-request": ("skillweave.api:CheckRequest", 1),
    "checkup": ("skillweave.graph:Checkup", 1),
    "completion": ("skillweave.skills:Completion", 1),
    "compose-request": ("skillweave.api:ComposeRequest", 1),
    "composition": ("skillweave.tools:Composition", 1),
    "conversation-page": ("skillweave.api:ConversationPage", 1),
    "cursor": ("skillweave.graph:Cursor", 1),
    "decision": ("skillweave:Decision", 1),
    "diagnostic": ("skillweave:Diagnostic", 1),
    "entities-put": ("skillweave.api:EntitiesPut", 1),
    "entity": ("skillweave.entities:Entity", 1),
    "entity-context": ("skillweave.knowledge.shown:ContextShown", 1),
    "event": ("skillweave:Event", 1),
    "event-request": ("skillweave.api:EventRequest", 1),
    "graph": ("skillweave.graph:GraphShown", 1),
    "graph-moment": ("skillweave.graph:MoveContext", 1),
    "graph-page": ("skillweave.api:GraphPage", 1),
    "graph-simulation": ("skillweave.graph:SimulationShown", 1),
    "injection": ("skillweave:Injection", 1),
    "judgement": ("skillweave.turns:Judgement", 1),
    "left": ("skillweave.turns:Left", 1),
    "logged": ("skillweave.ledger:Logged", 1),
    "message": ("skillweave:Message", 1),
    "move": ("skillweave.graph:Move", 1),
    "nearby-entities": ("skillweave.entities:NearbyEntities", 1),
    "neighbours": ("skillweave.api:Neighbours", 1),
    "next-move": ("skillweave.graph:Next", 1),
    "problem": ("skillweave.api:Problem", 1),
    "rollback-request": ("skillweave.api:RollbackRequest", 1),
    "selection": ("skillweave.selection:Selection", 1),
    "sent-event": ("skillweave.api:SentEvent", 1),
    "settings": ("skillweave:Settings", 1),
    "simulation-request": ("skillweave.api:SimulationRequest", 1),
    "skill": ("skillweave:Skill", 1),
    "skill-definition": ("skillweave.api:SkillDefinition", 1),
    "skill-page": ("skillweave.api:SkillPage", 1),
    "skill-published": ("skillweave.api:SkillPublished", 1),
    "spawn-plan": ("skillweave.tools:SpawnPlan", 1),
    "spawn-question": ("skillweave.api:SpawnQuestion", 1),
    "spawn-rejected": ("skillweave.tools:SpawnRejected", 1),
    "spawn-request": ("skillweave:SpawnRequest", 1),
    "state": ("skillweave:State", 1),
    "task-selection": ("skillweave.skills:TaskSelection", 1),
    "tool-answer": ("skillweave:ToolAnswer", 1),
    "tool-call-request": ("skillweave.api:ToolCallRequest", 1),
    "tool-limits": ("skillweave.tools:ToolLimits", 1),
    "tool-policy": ("skillweave:ToolPolicy", 1),
    "tool-spec": ("skillweave.weaver.tools:ToolSpec", 1),
    "turn": ("skillweave:Turn", 1),
    "turn-request": ("skillweave.api:TurnRequest", 1),
    "validate-request": ("skillweave.api:ValidateRequest", 1),
    "validation-result": ("skillweave.skills:ValidationResult", 1),
    "verdict": ("skillweave:Verdict", 1),
    "version-page": ("skillweave.api:VersionPage", 1),
}
"""By name, the class whose JSON form is published, and the version of that form.

A key that is added leaves the version, one that goes or changes its meaning makes a new one. A class is a value of
ours, a TypedDict, a NamedTuple or an Enum; it is imported when its schema is asked for.
"""

Schema = dict[str, Any]
_SIMPLE: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class UnknownSchema(SkillweaveError, LookupError):
    """A name that no schema has; `nearest` are likely ones."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nearest = nearest_names(name, SHAPES)
        remedy = f"did you mean {' or '.join(self.nearest)}?" if self.nearest else f"choose from {', '.join(SHAPES)}"
        super().__init__(f"there is no schema {name[:100]!r}; {remedy}")


def names() -> tuple[str, ...]:
    """The names of all published schemas, in their order."""
    return tuple(sorted(SHAPES))


def schema(name: str) -> Schema:
    """The JSON Schema (draft 2020-12) of that name, its version in `$id`; raises UnknownSchema."""
    if name not in SHAPES:
        raise UnknownSchema(name)
    place, version = SHAPES[name]
    described = schema_of(resolve_name(place))
    return {"$schema": DIALECT, "$id": schema_id(name, version), **described}


def schema_id(name: str, version: int = OF_COMMANDS) -> str:
    """The `$id` of a published schema."""
    return f"urn:skillweave:schema:{name}:{version}"


def naming(name: str) -> dict[str, str]:
    """The key and value by which what a command prints says which schema it fits."""
    return {NAMING: schema_id(name)}


def schema_of(shape: Hint) -> Schema:
    """The schema of what is written for any type that stands in the annotations of values."""
    defined = Definitions()
    described = defined.add(shape)
    if "$ref" in described:
        described = defined.schemas.pop(shape.__name__)
    return {**described, "$defs": dict(sorted(defined.schemas.items()))} if defined.schemas else described


class Purpose(StrEnum):
    """Whether a schema describes what is written, or what is taken: there, what has a default may be left out."""

    WRITTEN = "written"
    READ = "read"


@dataclass(slots=True)
class Definitions:
    """The schemas of several types, each class once under its name and the `ending`.

    `place` is what a reference to one begins with.
    """

    purpose: Purpose = Purpose.WRITTEN
    place: str = "#/$defs/"
    ending: str = ""
    schemas: dict[str, Schema] = field(default_factory=dict)
    _classes: dict[str, Hint] = field(default_factory=dict)

    def add(self, hint: Hint) -> Schema:
        """The schema of the type, a reference where it is a class; what it refers to stands in `schemas` then."""
        if is_free(hint):
            return {}
        if hint in _SIMPLE:
            return {"type": _SIMPLE[hint]}
        if union_arms(hint):
            return _any_of([self.add(arm) for arm in union_arms(hint)])
        if get_origin(hint) is not None:
            return self._container(get_origin(hint), get_args(hint))
        if getattr(hint, "_is_protocol", False):
            return {"type": "object"}
        name = self._name(hint)
        if name not in self.schemas:
            self.schemas[name] = {}  # a class that names itself inside finds it there
            self.schemas[name] = self._class(hint)
        return {"$ref": f"{self.place}{name}"}

    def _name(self, cls: Hint) -> str:
        """The name of the class, with its room before it where another class of that name came first."""
        name = f"{cls.__name__}{self.ending}"
        if self._classes.setdefault(name, cls) is cls:
            return name
        room = cls.__module__.split(".")[1]
        return f"{room.title().replace('_', '')}{name}"

    def _container(self, origin: Hint, inner: tuple[Hint, ...]) -> Schema:
        if origin is Literal:
            return {"enum": list(inner)}
        if issubclass(origin, Mapping):
            value = self.add(inner[1])
            return {"type": "object", "additionalProperties": value} if value else {"type": "object"}
        if origin is tuple and inner[-1] is not ...:
            row = [self.add(one) for one in inner]
            return {"type": "array", "prefixItems": row, "items": False, "minItems": len(row)}
        unique = {"uniqueItems": True} if origin is frozenset else {}
        return {"type": "array", "items": self.add(inner[0]), **unique}

    def _class(self, cls: Hint) -> Schema:
        told: Schema = {"title": cls.__name__, "description": _promise(cls)}
        if issubclass(cls, Enum):
            return {**told, "enum": list(words_of(cls))}
        if hasattr(cls, "__dataclass_fields__"):
            keys = keys_of(cls)
            parts = {key.name: {**_bounded(self.add(key.hint), key), **_told(cls, key.attribute)} for key in keys}
            needed = [key.name for key in keys if self._needs(key)]
            closed = {"additionalProperties": False} if getattr(cls, "json_exact", False) else {}
        else:
            hints = get_type_hints(cls)
            parts = {name: self.add(hint) for name, hint in hints.items()}
            needed = [name for name in hints if not is_typeddict(cls) or name in cls.__required_keys__]
            closed = {}
        return {**told, "type": "object", "properties": parts, "required": needed, **closed}

    def _needs(self, key: Key) -> bool:
        if key.optional or self.purpose is Purpose.WRITTEN:
            return not key.optional
        return key.field is not None and key.field.default is MISSING and key.field.default_factory is MISSING


def _any_of(arms: list[Schema]) -> Schema:
    types = [arm["type"] for arm in arms if arm.keys() == {"type"}]
    return {"type": types} if len(types) == len(arms) else {"anyOf": arms}


def _bounded(described: Schema, key: Key) -> Schema:
    """The schema with the most members that the field may have, where it says so."""
    most = None if key.field is None else key.field.metadata.get("most")
    if most is None:
        return described
    if "anyOf" in described:
        return {"anyOf": [_bounded(arm, key) if "type" in arm else arm for arm in described["anyOf"]]}
    word = {"array": "maxItems", "object": "maxProperties"}.get(described.get("type", ""))
    return {**described, word: most} if word else described


def _told(cls: type, attribute: str) -> Schema:
    derived = getattr(cls, attribute, None)
    return {"description": _promise(derived)} if isinstance(derived, property) and derived.__doc__ else {}


def _promise(documented: object) -> str:
    """The first sentence of a docstring."""
    first = (documented.__doc__ or "").strip().partition("\n\n")[0]
    return re.split(r"(?<=\.)\s", " ".join(first.split()), maxsplit=1)[0]
