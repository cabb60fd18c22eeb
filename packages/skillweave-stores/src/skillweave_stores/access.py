"""API keys: who may call the service, for which tenant, and what a key may do (spec 8)."""

import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Protocol

from skillweave.errors import SkillweaveError
from skillweave.values import HIDDEN, Checked, Portable, tenant_of

__all__ = ["ApiKey", "KeyNotFound", "KeyStore", "Scope", "id_in", "new_key", "opens"]

LONGEST_KEY_NAME = 100
"""Characters of the name by which people know a key."""
_ID, _HASH = re.compile(r"[0-9a-f]{16}"), re.compile(r"[0-9a-f]{64}")
_SPELLED = re.compile(r"sw_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


class Scope(StrEnum):
    """What a key may do: look, run turns, change skills and entities, answer approvals, or everything."""

    READ = "read"
    WEAVE = "weave"
    WRITE = "write"
    APPROVE = "approve"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class ApiKey(Portable):
    """A key as it is kept: never the key itself, only the SHA-256 of its secret, in hex.

    `id` is the part of the key that is no secret, and stands in logs. `created_at` and `revoked_at` are in seconds
    since 1970; a revoked key opens nothing. `scopes` with `admin` stands for all. Raises InvalidValue.
    """

    id: str
    tenant: str
    name: str
    scopes: frozenset[Scope]
    hash: str
    created_at: float
    revoked_at: float | None = None

    def __post_init__(self) -> None:
        checked = Checked("ApiKey")
        # Neither shows what came: a whole key that was put in the wrong place is a secret.
        if not _ID.fullmatch(checked.text("id", self.id)):
            checked.refuse("id", HIDDEN, "the 16 hex digits after sw_ of the key")
        if not _HASH.fullmatch(checked.text("hash", self.hash)):
            checked.refuse("hash", HIDDEN, "the SHA-256 of the key's secret, 64 hex digits")
        checked.number("created_at", self.created_at)
        if self.revoked_at is not None:
            checked.number("revoked_at", self.revoked_at)
        name = checked.text("name", self.name)
        if not name.strip() or len(name) > LONGEST_KEY_NAME or not name.isprintable():
            checked.refuse("name", name, f"1 to {LONGEST_KEY_NAME} printable characters")
        object.__setattr__(self, "tenant", tenant_of(self.tenant))
        object.__setattr__(self, "scopes", frozenset(checked.member("scopes", one, Scope) for one in self.scopes))
        if not self.scopes:
            checked.refuse("scopes", self.scopes, f"at least one of {', '.join(Scope)}")

    def may(self, scope: Scope) -> bool:
        """Whether the key is in use and has that scope."""
        return self.revoked_at is None and (scope in self.scopes or Scope.ADMIN in self.scopes)


class KeyNotFound(SkillweaveError, LookupError):
    """An API key's id that is not known."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"there is no API key {key_id[:40]!r}; list them with `skillweave keys list`")


class KeyStore(Protocol):
    """Keeps API keys of all tenants; `tests/contracts_of_ports/keys.py` is the contract as tests.

    All methods raise StoreUnavailable when what is asked does not answer.
    """

    async def put(self, key: ApiKey) -> None:
        """Keep a key under its id, in place of the one that is there."""
        ...

    async def find(self, key_id: str) -> ApiKey | None:
        """The key with that id, revoked or not; None where there is none."""
        ...

    async def list(self) -> Sequence[ApiKey]:
        """All keys, by their tenant and then by when they were made."""
        ...


def new_key(
    name: str, scopes: Iterable[Scope | str], *, tenant: str = "", now: float, random: bytes | None = None
) -> tuple[ApiKey, str]:
    """A key as it is kept, and the text that its owner gets and nobody can make again: 256 random bits in base64.

    `now` is in seconds since 1970, `random` 40 bytes in place of the system's. Raises InvalidValue.
    """
    from base64 import urlsafe_b64encode

    drawn = secrets.token_bytes(40) if random is None else random
    key_id, secret = drawn[:8].hex(), urlsafe_b64encode(drawn[8:]).decode().rstrip("=")
    kept = ApiKey(key_id, tenant, name, frozenset(Scope(one) for one in scopes), _hash(secret), now)
    return kept, f"sw_{key_id}_{secret}"


def id_in(spelled: str) -> str | None:
    """The id in the text of a key; None where it is no key."""
    found = _SPELLED.fullmatch(spelled)
    return None if found is None else found[1]


def opens(spelled: str, kept: ApiKey | None) -> bool:
    """Whether the text is that of the kept key, in the same time whether or not; never for None."""
    found = _SPELLED.fullmatch(spelled)
    secret, hashed = ("", "0" * 64) if found is None or kept is None else (found[2], kept.hash)
    # The id is no secret: comparing it tells nothing that the caller has not said.
    return hmac.compare_digest(_hash(secret), hashed) and kept is not None and id_in(spelled) == kept.id


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
