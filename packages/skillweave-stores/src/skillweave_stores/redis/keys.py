"""The names of a conversation's keys, and back; all of one conversation lie in one slot of a cluster (spec 5.4)."""

from dataclasses import dataclass
from urllib.parse import unquote

from skillweave.values import tenant_of

LEDGER = "skill:ledger:"
"""What the hash of given skills begins with, whatever program writes it."""
_STATE, _DECISIONS = "skillweave:state:", "skillweave:decisions:"
_EVENTS, _MEMORY = "skillweave:events:", "skillweave:memory:"
_ESCAPED = str.maketrans({sign: f"%{ord(sign):02X}" for sign in ":{}%/"})
_PATTERN = str.maketrans({sign: f"\\{sign}" for sign in "\\*?["})


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one conversation.

    Its State, the skills that count as given, the kept decisions, the stream of its events, and its working memory.
    """

    state: str
    ledger: str
    decisions: str
    events: str
    memory: str


def keys_of(tenant: str, conversation: str) -> Keys:
    """The keys; ids of any characters give different ones, and no id can choose its slot.

    The braces are what a cluster takes for the part of a name that decides on the slot, and no escaped id has any.
    """
    ledger = f"{_before(tenant)}{_escaped(conversation)}"
    slot = f"{{{ledger}}}"
    return Keys(f"{_STATE}{slot}", ledger, f"{_DECISIONS}{slot}", f"{_EVENTS}{slot}", f"{_MEMORY}{slot}")


def state_pattern(tenant: str, prefix: str) -> str:
    """What SCAN is asked for to find the States of conversations that begin with `prefix`.

    That of the default tenant finds those of other tenants too.
    """
    return f"{_STATE}{{{_before(tenant)}{_escaped(prefix)}".translate(_PATTERN) + "*}"


def conversation_of(tenant: str, state_key: str) -> str | None:
    """The conversation whose State the key is; None for one of another tenant."""
    name = state_key.removeprefix(f"{_STATE}{{{_before(tenant)}").removesuffix("}")
    return None if ":" in name else unquote(name)


def _before(tenant: str) -> str:
    owner = tenant_of(tenant)
    return f"{LEDGER}{_escaped(owner)}:" if owner else LEDGER


def _escaped(name: str) -> str:
    return name.translate(_ESCAPED)
