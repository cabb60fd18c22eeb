"""A Hypothesis strategy for any public value, from the annotations of its class."""

import importlib
import pkgutil
import sys
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

import skillweave
from skillweave import Budget, Event, Settings, SpawnRequest, Turn
from skillweave.api import ArtifactContent, EventRequest, RollbackRequest, SpawnQuestion
from skillweave.approvals.case import ApprovalReply, ApprovalRequest
from skillweave.codec import Portable, is_free, union_arms
from skillweave.events import Announced
from skillweave.events.payloads import BuiltIn
from skillweave.frozen import EMPTY, FrozenDict, freeze_mapping, thaw
from skillweave.graph import ScorePolicy
from skillweave.knowledge.entity import Edge, Entity, Point
from skillweave.knowledge.rules import ContextRules, Hop, IdPattern, SectionPart, SectionRule
from skillweave.manifest import Manifest, ManifestFile
from skillweave.registry import Agent
from skillweave.skills import TaskRule, When
from skillweave.state.state import ApprovalVerdict
from skillweave_stores.access import ApiKey, Scope
from skillweave_texas_rrc.thresholds import Threshold
from skillweave_trust import Limits
from tests.sources.entity_strategies import properties
from tests.strategies import ids, json_mappings, json_values, texts

Values = st.SearchStrategy[Any]
numbers = st.floats(allow_nan=False, allow_infinity=False)
SCALARS: Mapping[Any, Values] = {
    str: texts,
    int: st.integers(-(2**53), 2**53),
    float: numbers | st.integers(0, 3),
    bool: st.booleans(),
    NoneType: st.none(),
}


def portable_classes() -> list[type[Portable]]:
    """Every class whose values travel, wherever it is defined."""
    for module in pkgutil.walk_packages(skillweave.__path__, "skillweave."):
        if not module.name.startswith(
            ("skillweave.__main__", "skillweave_testing", "skillweave.adapters", "skillweave.cli")
        ):
            importlib.import_module(module.name)
    found: dict[type[Portable], None] = {}
    waiting: list[type[Portable]] = [Portable]
    while waiting:
        for cls in waiting.pop().__subclasses__():
            # A class with slots is made twice, and the module has the second one.
            if getattr(sys.modules[cls.__module__], cls.__name__) is cls and "__dataclass_fields__" in vars(cls):
                found[cls] = None
            waiting.append(cls)
    return sorted(found, key=lambda cls: f"{cls.__module__}.{cls.__name__}")


@cache
def values_of(cls: type[Any]) -> Values:
    """Any legal value of the class."""
    if cls is Event:
        return events()
    hints = get_type_hints(cls)
    parts = {part.name: of(hints[part.name]) for part in fields(cls) if part.init}
    return st.builds(cls, **{**parts, **RULES.get(cls, dict)()})


def of(hint: Any) -> Values:
    """Anything that the annotation allows."""
    if hint in SCALARS:
        return SCALARS[hint]
    if is_free(hint):
        return json_values.map(thaw) if hint in (object, Any) else json_mappings
    arms, origin, inner = union_arms(hint), get_origin(hint), get_args(hint)
    if arms:
        return st.one_of(*map(of, arms))
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is not None:
        return container(origin, inner)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if isinstance(hint, type) and issubclass(hint, tuple):
        return st.builds(hint, **{name: of(kind) for name, kind in get_type_hints(hint).items()})
    return st.deferred(lambda: values_of(hint))


def container(origin: Any, inner: tuple[Any, ...]) -> Values:
    """Some of what is inside."""
    if origin is tuple and inner[-1] is not ...:
        return st.tuples(*map(of, inner))
    if origin in (tuple, Collection, Sequence):
        return st.lists(of(inner[0]), max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(of(inner[0]), max_size=2)
    if is_free(inner[1]):
        return json_mappings if inner[1] not in (object, Any) else json_mappings.map(thaw)
    return st.dictionaries(texts, of(inner[1]), max_size=2).map(FrozenDict)


said = st.text("aä1", min_size=1, max_size=5)
_whens = st.builds(When, coding=st.booleans(), risk_levels=of(get_type_hints(When)["risk_levels"]))
_counts = st.integers(0, 10_000)
_extra = st.dictionaries(st.text("xyz", max_size=3), json_values, max_size=2)


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


RULES: Mapping[type, Callable[[], dict[str, Values]]] = {
    Manifest: lambda: {
        "files": st.lists(st.builds(ManifestFile, path=said), max_size=2, unique_by=lambda one: one.path).map(tuple)
    },
    Limits: lambda: {
        name: st.integers(1, 2**40) for name in ("seconds", "memory", "processes", "output", "written", "files")
    },
    ApiKey: lambda: {
        "id": st.text("0123456789abcdef", min_size=16, max_size=16),
        "hash": st.text("0123456789abcdef", min_size=64, max_size=64),
        "name": said,
        "tenant": said,
        "scopes": st.frozensets(st.sampled_from(Scope), min_size=1),
        "created_at": st.floats(0, 1e10),
        "revoked_at": st.none() | st.floats(0, 1e10),
    },
    EventRequest: lambda: {"turn_id": st.none() | said, "key": st.none() | said},
    ArtifactContent: lambda: {
        "text": st.none(),
        "base64": st.binary(max_size=9).map(lambda data: b64encode(data).decode()),
    },
    RollbackRequest: lambda: {"content_hash": said},
    SpawnQuestion: lambda: {"plan": st.none()},
    ApprovalReply: lambda: {"verdict": st.just(ApprovalVerdict.MODIFIED), "by": said, "note": said},
    ApprovalRequest: lambda: {"conversation": said, "escalate_seconds": st.floats(0, 1e8)},
    Agent: lambda: {"id": ids, "budgets": st.dictionaries(texts, st.floats(0, 1e9) | _counts, max_size=2)},
    Turn: lambda: {"id": said, "conversation": said},
    Budget: lambda: dict.fromkeys(("total", "catalog", "shortlist", "per_skill", "reserve", "context"), _counts),
    Settings: lambda: {
        **dict.fromkeys(("give_at", "offer_at"), st.none() | st.floats(0, 1)),
        **dict.fromkeys(("max_skills", "offer_most", "ranked"), _counts),
        "offer_words": st.integers(1, 100),
        "context_seconds": st.floats(0, 60),
    },
    TaskRule: lambda: {"when": _whens, "skills": st.lists(ids, min_size=1, max_size=2, unique=True).map(tuple)},
    ScorePolicy: lambda: {"temperature": st.floats(0.1, 9), "margin": st.none() | st.floats(0, 1)},
    Threshold: lambda: {"value": st.none() | st.floats(0, 1e9)},
    Point: lambda: {"latitude": st.floats(-90, 90), "longitude": st.floats(-180, 180), "datum": said},
    Entity: lambda: {
        "id": said,
        "label": said,
        "properties": properties,
        "aliases": st.lists(said, max_size=2).map(tuple),
    },
    Edge: lambda: {"source": said, "relation": said, "target": said, "properties": properties},
    Hop: lambda: {"via": said},
    SectionPart: lambda: {
        "render": st.lists(st.sampled_from(["Ship: {name}", "- {id}, {size.width}"]), min_size=1, max_size=2).map(
            tuple
        ),
        "title": st.sampled_from(["", "Ships:"]),
        "where": st.sampled_from([{}, {"node.flag": {"eq": "NO", "exists": True}}]).map(freeze_mapping),
        "each": st.just(""),
        "last": st.none(),
        "order": st.sampled_from(["", "-name"]),
        "limit": st.integers(1, 1000),
    },
    SectionRule: lambda: {"name": said, "parts": st.lists(values_of(SectionPart), min_size=1, max_size=2).map(tuple)},
    IdPattern: lambda: {"pattern": said},
    ContextRules: lambda: {
        "sections": st.lists(values_of(SectionRule), max_size=2, unique_by=lambda one: one.name).map(tuple),
        "tags": st.just(EMPTY),
        "otherwise": st.just(()),
    },
    SpawnRequest: lambda: {
        "task": said,
        "skills": st.none() | st.lists(ids, max_size=2).map(tuple),
        "extra": _extra.map(freeze_mapping),
    },
}


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Any event, a skill's own one included."""
    kinds = [cls for cls in portable_classes() if issubclass(cls, BuiltIn) and "event_type" in vars(cls)]
    kind = draw(st.sampled_from([*kinds, None]))
    event_type = "table.ready" if kind is None else kind.event_type
    payload = Announced(draw(ids), draw(json_mappings)) if kind is None else draw(values_of(kind))
    return Event(draw(texts), event_type, draw(texts), draw(st.none() | texts), payload)
