"""Whether the service lives, whether it can answer, and what it counts: for those who run it, outside of the API."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address

from fastapi import FastAPI, Request
from fastapi.responses import Response

from skillweave import SkillweaveError
from skillweave_server.calls import call_with
from skillweave_server.endpoints import json_bytes
from skillweave_server.meters import CONTENT_TYPE
from skillweave_server.service import Service
from skillweave_stores.access import Scope

log = logging.getLogger("skillweave_server")

CHECK_SECONDS = 2.0
"""Seconds in which each part has to answer."""
KEPT_SECONDS = 1.0
"""Seconds for which what the parts answered is kept: anybody may ask, however often."""
SILENT = "does not answer"
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
"""Headers of requests that a proxy hands on for somebody else."""

Check = Callable[[], Awaitable[object]]


class Readiness:
    """Asks the parts that the service needs, all at once; `clock` is in seconds."""

    def __init__(self, checks: Mapping[str, Check], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._checks = checks
        self._clock = clock
        self._told: dict[str, str] = {}
        self._told_at = float("-inf")
        self._asking = asyncio.Lock()

    async def parts(self) -> Mapping[str, str]:
        """By the name of each part `ok`, or that it does not answer; why that is stands in the log."""
        async with self._asking:
            if self._clock() >= self._told_at + KEPT_SECONDS:
                found = await asyncio.gather(*(self._asked(name, check) for name, check in self._checks.items()))
                self._told, self._told_at = dict(zip(self._checks, found, strict=True)), self._clock()
            return self._told

    async def _asked(self, name: str, check: Check) -> str:
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await check()
        except TimeoutError:
            log.warning("not ready: the %s did not answer within %g seconds", name, CHECK_SECONDS)
        except SkillweaveError as error:
            # Anybody may ask: the name of a server is for the log.
            log.warning("not ready: the %s does not answer: %r", name, str(error))
        except Exception:
            # A part may be a guest's; who balances the load needs an answer whatever it raises.
            log.exception("not ready: the %s fails", name)
        else:
            return "ok"
        return SILENT


def add_health(app: FastAPI, service: Service) -> None:
    """Have the application answer at `/healthz`, `/readyz` and `/metrics`."""
    readiness = Readiness(service.checks)
    may_read = call_with(Scope.READ)

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> Response:
        return _answer(200, {"status": "ok"})

    @app.get("/readyz", include_in_schema=False)
    async def readyz() -> Response:
        if service.leaving.is_set():
            return _answer(503, {"status": "stopping"})
        parts = await readiness.parts()
        whole = all(told == "ok" for told in parts.values())
        return _answer(200 if whole else 503, {"status": "ok" if whole else "not ready", "parts": parts})

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        if not _from_this_machine(request):
            await may_read(request)
        return Response(await service.metrics(), media_type=CONTENT_TYPE)


def _answer(status: int, told: object) -> Response:
    return Response(json_bytes(told), status, media_type="application/json")


def _from_this_machine(request: Request) -> bool:
    """Whether somebody on this machine asks, and no proxy on it for somebody else."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
