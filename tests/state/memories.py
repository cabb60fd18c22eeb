"""Working memory in a dict that passes the contract, and others with one mistake each, which the contract must find.

Not collected by itself, as its name says no test.
"""

import asyncio
from collections.abc import Mapping

import pytest

from skillweave.closing import ClosedOnExit
from skillweave.dialogue import require_id
from skillweave.frozen import EMPTY, FrozenJson, freeze_mapping
from skillweave.state.working_memory import (
    KEEP_MEMORY_SECONDS,
    MOST_MEMORY_BYTES,
    MemoryTooLarge,
    memory_to_json,
    merged,
)
from skillweave.tenants import tenant_of
from skillweave_testing import ManualClock
from tests.contracts_of_ports.working_memory import WorkingMemoryContract


class DictMemory(ClosedOnExit):
    """Working memory as it should be."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.kept: dict[tuple[str, str], Mapping[str, FrozenJson]] = {}
        self.until: dict[tuple[str, str], float] = {}

    async def read(self, conversation: str, *, tenant: str = "") -> Mapping[str, FrozenJson]:
        key = self.key(conversation, tenant)
        if key in self.kept:
            self.until[key] = self.clock() + KEEP_MEMORY_SECONDS
        return self.kept.get(key, EMPTY)

    async def merge(
        self, conversation: str, values: Mapping[str, object], *, tenant: str = ""
    ) -> Mapping[str, FrozenJson]:
        key = self.key(conversation, tenant)
        after = self.merged(self.kept.get(key, EMPTY), values)
        self.until[key] = self.clock() + KEEP_MEMORY_SECONDS
        self.kept[key] = after
        if not after:
            del self.kept[key]
        return after

    async def forget(self, conversation: str, *, tenant: str = "") -> bool:
        return self.kept.pop(self.key(conversation, tenant), None) is not None

    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        return merged(kept, values)

    def key(self, conversation: str, tenant: str) -> tuple[str, str]:
        require_id("conversation", conversation, "WorkingMemory")
        key = tenant_of(tenant), conversation
        if self.until.get(key, 0) <= self.clock():
            self.kept.pop(key, None)
        return key


class MergesDeeply(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        after = dict(values)
        for key, value in kept.items():
            given = values.get(key)
            if isinstance(value, Mapping) and isinstance(given, Mapping):
                after[key] = {**value, **given}
        return merged(kept, after)


class KeepsNone(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        after = merged(kept, values)
        return after | {key: None for key, value in values.items() if value is None}  # type: ignore[operator,no-any-return]


class Replaces(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        return merged({}, values)


class CountsLetters(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        short = {
            key: value.replace("ä", "a").replace("😀", "a") if isinstance(value, str) else value
            for key, value in values.items()
        }
        merged(kept, short)
        try:
            return merged(kept, values)
        except MemoryTooLarge:
            return freeze_mapping({**kept, **values})  # type: ignore[dict-item]


class LimitsEachCall(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        given = merged({}, values)
        left = {key: value for key, value in kept.items() if key not in values}
        return freeze_mapping(dict(sorted({**left, **given}.items())))  # type: ignore[arg-type]


class RefusesTheLastByte(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        after = merged(kept, values)
        if len(memory_to_json(after).encode()) >= MOST_MEMORY_BYTES:
            raise MemoryTooLarge(MOST_MEMORY_BYTES + 1)
        return after


class Unsorted(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        after = merged(kept, values)
        return freeze_mapping({key: after[key] for key in (*kept, *values) if key in after})  # type: ignore[misc]


class NotKeptByReading(DictMemory):
    async def read(self, conversation: str, *, tenant: str = "") -> Mapping[str, FrozenJson]:
        return self.kept.get(self.key(conversation, tenant), EMPTY)


class NotKeptByMergingNothing(DictMemory):
    async def merge(
        self, conversation: str, values: Mapping[str, object], *, tenant: str = ""
    ) -> Mapping[str, FrozenJson]:
        until = self.until.get((tenant_of(tenant), conversation))
        after = await super().merge(conversation, values, tenant=tenant)
        if not values and until is not None:
            self.until[tenant_of(tenant), conversation] = until
        return after


class KeptForEver(DictMemory):
    def key(self, conversation: str, tenant: str) -> tuple[str, str]:
        require_id("conversation", conversation, "WorkingMemory")
        return tenant_of(tenant), conversation


class MergedIntoWhatIsOver(KeptForEver):
    async def read(self, conversation: str, *, tenant: str = "") -> Mapping[str, FrozenJson]:
        DictMemory.key(self, conversation, tenant)
        return await super().read(conversation, tenant=tenant)


class ForgottenOnceMore(DictMemory):
    async def forget(self, conversation: str, *, tenant: str = "") -> bool:
        self.key(conversation, tenant)
        return True


class OneTenant(DictMemory):
    def key(self, conversation: str, tenant: str) -> tuple[str, str]:
        tenant_of(tenant)
        return super().key(conversation, "")


class TwoDefaults(DictMemory):
    def key(self, conversation: str, tenant: str) -> tuple[str, str]:
        tenant_of(tenant)
        require_id("conversation", conversation, "WorkingMemory")
        return tenant, conversation


class JoinedNames(DictMemory):
    def key(self, conversation: str, tenant: str) -> tuple[str, str]:
        return super().key(conversation.casefold().strip("*%").replace("\\", "/") or "*", tenant)


class LosesMerges(DictMemory):
    async def merge(
        self, conversation: str, values: Mapping[str, object], *, tenant: str = ""
    ) -> Mapping[str, FrozenJson]:
        before = self.kept.get(self.key(conversation, tenant), EMPTY)
        await asyncio.sleep(0)
        self.kept[self.key(conversation, tenant)] = before
        return await super().merge(conversation, values, tenant=tenant)


class HalfMerged(DictMemory):
    def merged(self, kept: Mapping[str, FrozenJson], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
        try:
            return merged(kept, values)
        except ValueError:
            self.kept.clear()
            raise


class ThatCanBeChanged(DictMemory):
    async def read(self, conversation: str, *, tenant: str = "") -> Mapping[str, FrozenJson]:
        return dict(await super().read(conversation, tenant=tenant))


class AnyConversation(DictMemory):
    def key(self, conversation: str, tenant: str) -> tuple[str, str]:
        return super().key("".join(filter(str.isprintable, conversation))[:500] or "x", tenant)


MISTAKES = (
    MergesDeeply,
    KeepsNone,
    Replaces,
    CountsLetters,
    LimitsEachCall,
    RefusesTheLastByte,
    Unsorted,
    NotKeptByReading,
    NotKeptByMergingNothing,
    KeptForEver,
    MergedIntoWhatIsOver,
    ForgottenOnceMore,
    OneTenant,
    TwoDefaults,
    JoinedNames,
    LosesMerges,
    HalfMerged,
    ThatCanBeChanged,
    AnyConversation,
)


def _tested(mistake: type[DictMemory]) -> type[WorkingMemoryContract]:
    class Tested(WorkingMemoryContract):
        @pytest.fixture
        def memory(self, clock: ManualClock) -> DictMemory:
            return mistake(clock)

    return Tested


for _mistake in MISTAKES:
    globals()[f"Test{_mistake.__name__}"] = _tested(_mistake)
