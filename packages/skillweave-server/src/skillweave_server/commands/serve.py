"""`skillweave serve`: the engine over HTTP, until it is asked to stop."""

import os
import re
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from skillweave import StoreUnavailable, WhenUnknown
from skillweave.commands import Answer, AsJson, Entities, Loading, Mistake, Selecting, page_for
from skillweave.values import without_secrets
from skillweave.weaver import OnStoreFailure
from skillweave_server.commands import options as of_service

if TYPE_CHECKING:
    from skillweave_server.commands.output import Listening
    from skillweave_server.gateways import Gateway
    from skillweave_server.options import ServiceOptions
    from skillweave_server.service import Service

EXAMPLES = {
    "serve": """
skillweave serve --skills examples/skills
skillweave serve --host 0.0.0.0 --first-key --skills skills
skillweave serve --store postgresql://weaver@db.internal/skills --approval-key-file approvals.key
skillweave serve --store postgresql://weaver@db.internal/skills --redis redis://cache.internal
skillweave serve --skills skills --upstream openai=https://api.openai.com --upstream-key openai=OPENAI_API_KEY
"""
}
_RATE = re.compile(r"([1-9][0-9]{0,8})(?:/min(?:ute)?)?")
_LONGEST_DRAIN_SECONDS = 3600.0
_PATIENCE_SECONDS = 30.0
"""Who starts a service waits for a database that is starting too."""
_FIRST = "the first key"


def serve(
    host: of_service.Host = "127.0.0.1",
    port: of_service.Port = 8321,
    first_key: of_service.FirstKey = False,
    rate: of_service.Rate = None,
    trusted_proxy: of_service.TrustedProxies = None,
    drain: of_service.Drain = 0.0,
    no_access_log: of_service.Quiet = False,
    store: of_service.ServiceStore = of_service.DEFAULT_STORE,
    redis: of_service.RedisUrl = None,
    approval_key_file: of_service.ApprovalKeyFile = None,
    on_store_failure: of_service.StoreFailure = OnStoreFailure.CONTINUE,
    when_unknown: of_service.Unknown = WhenUnknown.DENY,
    entities: Entities = None,
    upstream: of_service.Upstreams = None,
    upstream_key: of_service.UpstreamKeys = None,
    upstream_path: of_service.UpstreamPaths = None,
    approval_wait: of_service.ApprovalWait = 240.0,
    require_conversation: of_service.RequireConversation = False,
    as_json: AsJson = False,
    *,
    loading: Loading,
    selecting: Selecting,
) -> None:
    """Answer over HTTP: turns, approvals, skills, events.

    Skills that are named are for all tenants; those that are published to the store are the tenant's own and go first.
    Without any API key it is open to everybody on this machine, and does not listen beyond it. Ctrl-C or SIGTERM lets
    it finish what runs; a second one ends it at once. The log goes to standard error, a line of JSON for each entry.
    """
    from skillweave_server.commands.output import Listening
    from skillweave_server.listening import addresses_of, bound_sockets, only_this_machine, start_listening
    from skillweave_server.logs import write_log
    from skillweave_server.opening import Entry, open_service, place_of
    from skillweave_server.running import run
    from skillweave_server.running import serve as run_service
    from skillweave_server.unsealed import DisabledApprovals

    limits, seconds = _options_of(rate, tuple(trusted_proxy or ())), _seconds_of(drain)
    gateway = gateway_of(upstream, upstream_key, upstream_path, approval_wait, require=require_conversation)

    async def served() -> None:
        sockets = bound_sockets(host, port)
        try:
            key = await _first_key(host, store, wanted=first_key, is_local=only_this_machine(sockets))
            start_listening(sockets)
            folder = loading.kept_skills()
            service = open_service(
                *loading.sources_at_hand(),
                store=store,
                redis=redis,
                settings=selecting.settings(),
                matchers=selecting.matchers(),
                entities=entities,
                approval_key_file=approval_key_file,
                on_store_failure=on_store_failure,
                when_unknown=when_unknown,
                options=limits,
                entry=Entry.KEYS if await _has_keys(store) else Entry.OPEN,
                cache=None if folder is None else folder.path,
            )
            service.gateway = gateway
            async with service:
                skills = await _checked(service)
                write_log(requests=not no_access_log)
                shown = Listening(
                    tuple(addresses_of(sockets)),
                    place_of(store).shown,
                    None if redis is None else without_secrets(redis),
                    skills,
                    service.keys is None,
                    not isinstance(service.approvals, DisabledApprovals),
                    on_store_failure,
                    when_unknown,
                    key,
                    () if gateway is None else tuple(gateway.providers),
                )
                told = partial(_tell, shown, as_json=as_json)
                await run_service(service, sockets, drain_seconds=seconds, told=told)
        finally:
            for one in sockets:
                one.close()

    run(served())


def gateway_of(
    upstreams: list[str] | None, keys: list[str] | None, paths: list[str] | None, wait: float, *, require: bool
) -> "Gateway | None":
    """The gateway to the upstreams that are named, None for none. Raises InvalidValue and Mistake."""
    if not upstreams:
        if keys or paths:
            raise Mistake("there is no --upstream that this could be about; add --upstream NAME=URL")
        return None
    from skillweave_server.gateways import Gateway
    from skillweave_server.upstreams import providers_of

    if not 0 <= wait <= _LONGEST_DRAIN_SECONDS:
        raise Mistake(f"--approval-wait is {wait:g}; give seconds from 0 to {_LONGEST_DRAIN_SECONDS:,.0f}")
    return Gateway(providers_of(upstreams, keys or [], os.environ, paths or []), wait, require)


async def _first_key(host: str, store: str, *, wanted: bool, is_local: bool) -> str | None:
    """The text of the first key, where one is wanted and there is none.

    Raises Mistake where others would reach a service without any key.
    """
    if await _has_keys(store):
        return None
    if wanted:
        from skillweave_server.opening import place_of
        from skillweave_stores.access import Scope, new_key
        from skillweave_stores.sql.keys import SqlKeys

        key, text = new_key(_FIRST, [Scope.ADMIN], now=time.time())
        async with SqlKeys(place_of(store).url) as keys:
            await keys.put(key)
        return text
    if not is_local:
        raise Mistake(
            f"others can reach {host}, and there is no API key in {without_secrets(store)}, so that "
            "everybody could do everything; start with --first-key, or make one: skillweave keys new --name NAME "
            f"--scope admin --store {without_secrets(store)}"
        )
    return None


async def _has_keys(store: str) -> bool:
    """Whether a key was ever made: where all are revoked nobody is to come in."""
    from skillweave_server.opening import place_of
    from skillweave_stores.sql.keys import SqlKeys

    async with SqlKeys(place_of(store).url) as keys:
        return bool(await keys.list())


def _tell(shown: "Listening", *, as_json: bool) -> None:
    from skillweave_server.commands.output import listening_text

    answer = Answer(lambda: shown, partial(listening_text, shown), schema="serve")
    sys.stdout.write(f"{answer.as_json(indent=None) if as_json else answer.text(page_for(sys.stdout))}\n")
    sys.stdout.flush()


async def _checked(service: "Service") -> int:
    """How many skills the default tenant has; raises StoreUnavailable for the first part that does not answer."""
    import asyncio

    from skillweave_server.opening import READINESS

    for name, check in service.checks.items():
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await check()
        except TimeoutError:
            raise StoreUnavailable(
                f"the {name} did not answer within {_PATIENCE_SECONDS:g} seconds; see whether its server runs"
            ) from None
    await service.make_ready()
    weaver = service.weaver("")
    # What is read at the first use, such as a vocabulary of tokens, no turn of anybody has to wait for.
    await weaver.preview("Is it ready?", conversation=READINESS)
    return len(await weaver.skills.snapshot())


def _options_of(rate: str | None, proxies: tuple[str, ...]) -> "ServiceOptions":
    from skillweave_server.options import ServiceOptions

    if rate is None:
        return ServiceOptions(trusted_proxies=proxies)
    if rate == "off":
        return ServiceOptions(requests_per_minute=None, trusted_proxies=proxies)
    found = _RATE.fullmatch(rate)
    if found is None:
        raise Mistake(f"--rate is {rate[:40]!r}; give requests in a minute, such as 6000/minute, or off")
    return ServiceOptions(requests_per_minute=int(found[1]), trusted_proxies=proxies)


def _seconds_of(drain: float) -> float:
    # No timer ends after `nan` seconds: the service could then only be killed.
    if not 0 <= drain <= _LONGEST_DRAIN_SECONDS:
        raise Mistake(f"--drain is {drain:g}; give seconds from 0 to {_LONGEST_DRAIN_SECONDS:,.0f}")
    return drain
