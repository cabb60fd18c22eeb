"""`skillweave keys`: the API keys of a service."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.commands import Answer, Mistake
from skillweave_server.commands import options

if TYPE_CHECKING:
    from skillweave_stores.access import KeyStore

EXAMPLES = {
    "new": """
skillweave keys new --name "the agent" --scope read --scope weave
skillweave keys new --name ada --scope admin --store postgresql://weaver@db.internal/skills
skillweave keys new --name "acme's agent" --scope weave --tenant acme --json
""",
    "list": """
skillweave keys list
skillweave keys list --store postgresql://weaver@db.internal/skills --json
""",
    "revoke": """
skillweave keys revoke 3f9a1c0b7d25e846
""",
}
_DEFAULT_SCOPES = ("read", "weave")
_KeyId = Annotated[str, typer.Argument(metavar="KEY", help="The id of a key, or the key itself.")]


async def new(
    name: options.KeyName,
    scope: options.KeyScopes = None,
    tenant: options.KeyTenant = "",
    store: options.ServiceStore = options.DEFAULT_STORE,
) -> Answer:
    """Make an API key, and print it once.

    Only a hash of it is kept. A service that was started without any key lets everybody in until it is started again.
    """
    from skillweave_server.commands.output import KeyMade, key_shown, made_text
    from skillweave_stores.access import Scope, new_key

    wanted = scope or _DEFAULT_SCOPES
    unknown = next((one for one in wanted if one not in tuple(Scope)), None)
    if unknown is not None:
        raise Mistake(f"{unknown[:40]!r} is no scope; choose from {', '.join(Scope)}")
    key, text = new_key(name, wanted, tenant=tenant, now=time.time())
    async with _keys_in(store) as keys:
        await keys.put(key)
    made = KeyMade(key_shown(key), text)
    return Answer(lambda: made, partial(made_text, made))


async def list_(store: options.ServiceStore = options.DEFAULT_STORE) -> Answer:
    """List all API keys, with what each may do; never the keys themselves."""
    from skillweave_server.commands.output import KeysShown, key_shown, keys_text

    async with _keys_in(store) as keys:
        shown = KeysShown(tuple(map(key_shown, await keys.list())))
    return Answer(lambda: shown, partial(keys_text, shown))


async def revoke(key: _KeyId, store: options.ServiceStore = options.DEFAULT_STORE) -> Answer:
    """Let a key open nothing any more.

    Services that know it still take it for up to 30 seconds. Again changes nothing.
    """
    from skillweave_server.commands.output import key_shown, key_text
    from skillweave_stores.access import KeyNotFound, id_in

    async with _keys_in(store) as keys:
        known = await keys.find(id_in(key) or key)
        if known is None:
            raise KeyNotFound(id_in(key) or key)
        if known.revoked_at is None:
            known = replace(known, revoked_at=time.time())
            await keys.put(known)
    shown = key_shown(known)
    return Answer(lambda: shown, partial(key_text, shown))


@asynccontextmanager
async def _keys_in(store: str) -> "AsyncIterator[KeyStore]":
    from skillweave_server.opening import place_of
    from skillweave_stores.sql.keys import SqlKeys

    async with SqlKeys(place_of(store).url) as keys:
        yield keys
