"""One request and its reply: identify ▸ restore ▸ weave ▸ place ▸ upstream ▸ judge ▸ reply (spec 12.1)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any
from uuid import uuid4

from skillweave.adapters.chat import SEPARATOR, HostMessage, last_spoken, turn_from
from skillweave.compose.policy import OWN_TOOLS
from skillweave.dialogue import Message, Role
from skillweave.disclose.block import SkillTools
from skillweave.errors import Contended, InvalidTurn, SourceUnavailable, StoreUnavailable
from skillweave.exchange.chain import chain_of
from skillweave.exchange.contexts import EMPTY, Way, context_of, inherited, is_probe, tools_digest, turn_id
from skillweave.exchange.forms import names_of, tools_of
from skillweave.exchange.history import History, listed_by_agent, restored, without_lines, without_texts
from skillweave.exchange.identify import always_has_tools, session_of
from skillweave.exchange.insertions import MAIN, Entry, chain_key
from skillweave.exchange.judging import Judge
from skillweave.exchange.request import Request, bridge_of
from skillweave.exchange.responses import KEPT_BY
from skillweave.exchange.steps import (
    Answer,
    Pass,
    Refused,
    Relay,
    Send,
    Start,
    Step,
    Upstream,
    Write,
)
from skillweave.exchange.streams import Sieve, Stream, is_marker
from skillweave.exchange.wire import Unreadable, read_object, write_json
from skillweave.injection import CurrentPolicy, Injection
from skillweave.state.state import Writes

MOST_ROUNDS = 8
"""Rounds of a request that the client does not see; in the one after them the model may call no tool."""
_LIMIT = f"the model asked for skills {MOST_ROUNDS} times in a row; its last calls were not answered"
_CHARACTERS = 5
"""Characters that a token of skill text has, rather too many than too few."""
_LARGE = 256 * 1024
"""Bytes of a request that is read and written beside the event loop."""


@dataclass(slots=True)
class Exchange(Request):
    """One request on its way. `steps` yields what the door has to do, and is sent what came of it."""

    async def steps(self) -> AsyncGenerator[Step, Any]:
        """Yields the steps. An end before an Answer, a Pass or the last Write means that upstream broke off.

        Closed early, it lets what was claimed go, so that it is given again.
        """
        rounds, came = self._rounds(), None
        try:
            with suppress(StopAsyncIteration):
                while True:
                    came = yield await rounds.asend(came)
        except Refused as error:
            yield problem(error)
        except (Unreadable, InvalidTurn, SourceUnavailable, Contended) as error:
            if came is not None:
                raise
            try:
                passed = await self.passed_headers(str(error), "unreadable-request", 400)
            except Refused as refused:
                yield problem(refused)
                return
            yield Send(self.asked.body)
            yield Pass(passed)
        finally:
            await rounds.aclose()
            with suppress(StoreUnavailable, Contended):
                for turn in self.open:
                    await self.parts.weaver.release(self.context.conversation, turn)

    async def _prepare(self) -> None:
        """Reads the request and finds its context. Raises Unreadable, and Refused for what is not served."""
        self.body = await _beside(read_object, self.asked.body, self.asked.body)
        if self.body.get("background"):
            raise Refused(400, "not-served", "background responses cannot be judged; send the request without it")
        items = self.form.items(self.body)
        self.tools = tools_of(self.body)
        self.names = names_of(self.tools)
        begins = self._start()
        if self.at_provider and not begins:
            # Of a history that nobody shows, the same words again are another turn.
            begins = uuid4().hex
        self.links = chain_of([self.form.normal(item) for item in items], begins)
        self.session = session_of(self.asked.headers, self.body, self.asked.conversation)
        if self.parts.require_conversation and not self.session:
            raise Refused(
                400,
                "conversation-required",
                "this gateway needs an id of the conversation: send the header X-Skillweave-Conversation",
            )
        keys = [MAIN, *(chain_key(link.digest) for link in self.links), *([self._start()] if self._start() else [])]
        tools = tools_digest(self.names)
        try:
            found = await self.parts.insertions.find_entries(self.scope, keys, tenant=self.tenant)
            self.loaded = {key: Entry.from_bytes(one) for key, one in found.items()}
            self.entries = dict(self.loaded)
        except StoreUnavailable as error:
            await self.require_no_rules(str(error), "store-unavailable", 503)
            self.notes["Passed"] = "what was put in before cannot be read now"
        beside = is_probe(self.body) or (not self.tools and always_has_tools(self.asked.headers))
        self.context = context_of(self.parts.scope, self.session, self.links, self.entries, tools, beside=beside)
        if self._start() in self.entries and self.context.way in (Way.NEW, Way.SIDE, Way.REWRITE):
            known = self.entries[self._start()]
            self.context = replace(self.context, way=Way.ON, conversation=known.conversation, known=known)
            if known.items:
                self.body = {**self.body, KEPT_BY[0]: known.items[0]}
        self._bound()
        self._choose_tools(items)
        if self.context.way is Way.FORK and not self.counts_only:
            with suppress(StoreUnavailable):  # the turn meets the same ledger, and says what holds then
                await self._inherit()
        if self.parts.before is not None and not self.counts_only:
            await self.parts.before(self.context.conversation)
        self.history = restored(self.form, items, self.links, self.entries)
        if self.history.lost:
            self.notes["Passed"] = "the reasoning of an earlier reply is left out, as its original is not known"

    def _bound(self) -> None:
        """Lets the oldest texts go where they are more than twice what a call may hold."""
        keys = [key for link in self.links if self.entries.get(key := chain_key(link.digest), EMPTY).text]
        room = 2 * self.parts.weaver.settings.budget.total * _CHARACTERS
        for key in reversed(keys):
            room -= len(self.entries[key].text)
            if room < 0:
                self.entries[key] = replace(self.entries[key], text="")
                self.notes["Break"] = "bounded"

    def _choose_tools(self, items: Sequence[Any]) -> None:
        known, choice = self.context.known, self.form.forces(self.body.get("tool_choice"))
        self.withheld, self.own = known.withheld, known.own
        if not known.state and not known.conversation:
            clash = any(name in OWN_TOOLS for name in self.names)
            several = (self.body.get("n") or 1) != 1
            self.own = bool(self.tools) and not choice and not several and not clash
        elif self.context.way is Way.REWRITE and not known.own and not known.withheld:
            self.own = bool(self.tools) and not choice
        self.own = self.own and self.context.way is not Way.SIDE
        self._bridge = bridge_of(self.parts.weaver, SkillTools.OFFERED if self.own else SkillTools.ABSENT)

    def _start(self) -> str:
        """Where the chain of a request begins whose history the provider keeps."""
        before = self.body.get(KEPT_BY[0]) if self.form.own_item else None
        return response_key(before) if isinstance(before, str) and before else ""

    async def _inherit(self) -> None:
        ledger = self.parts.weaver.ledger
        child = await ledger.state(self.context.conversation)
        if child.revision == 0:
            state = inherited(await ledger.state(self.context.parent), self.context.shared)
            await ledger.store.swap(self.context.conversation, 0, Writes(state), tenant=ledger.tenant)

    async def _rounds(self) -> AsyncGenerator[Step, Any]:
        await self._prepare()
        judge, started, going = Judge(self), False, True
        upstream, reader = Upstream(0, {}, None), None
        while going:
            data = await _beside(write_json, await self._composed(), self.asked.body)
            kept = await self.kept()
            if kept is None:
                begun = perf_counter()
                upstream = yield Send(data)
                self._upstream += perf_counter() - begun
            else:
                upstream = Upstream(200, _MADE, None if isinstance(kept, str) else write_json(kept))
            if upstream.status >= 300 or self.counts_only:
                if not started:
                    yield Pass(self.headers())
                return
            if upstream.body is None:
                reader = self._reader(judge)
                if not started:
                    yield Start(self.headers() if kept is None else {**self.headers(), "content-type": _EVENTS})
                    started = True
                yield Write(reader.feed(kept.encode("latin-1"))) if isinstance(kept, str) else Relay(reader.feed)
            reply, why = self._read(upstream, reader)
            if why:
                yield Pass(await self.passed_headers(f"the reply cannot be read: {why}", "unreadable-reply", 502))
            if reply is None:
                return
            going = await self._goes_on(judge, reply, reader)
            if reader is not None:
                yield Write(reader.resolve(judge.fates(reader)))
                self._carried = reader.after
        yield await self._last(judge, upstream, reader)

    def _reader(self, judge: Judge) -> Stream:
        markers = not self.own and self.context.way is not Way.SIDE and not has_choices(self.body)
        self.reader = self.form.stream(Sieve(judge.by_name, judge.whole, markers), self._carried)
        self.reader.raw = bytearray() if self.policy is not None and self.policy.tools.asks else None
        return self.reader

    def _read(self, upstream: Upstream, reader: Stream | None) -> tuple[dict[str, Any] | None, str]:
        """The reply, or why it cannot be read; None alone for a stream that broke off."""
        if reader is not None:
            return None if reader.failed else reader.reply, ""
        try:
            reply = read_object(upstream.body or b"")
            self.form.found(reply, self.tools)
            self.form.text(reply)
        except (Unreadable, InvalidTurn, KeyError, TypeError, AttributeError) as error:
            return None, str(error)
        return reply, ""

    async def _goes_on(self, judge: Judge, reply: dict[str, Any], reader: Stream | None) -> bool:
        """Judges the reply; whether the model is to go on with what was answered inside."""
        self._marker = self._marked(reply, reader)
        if self._marker and len(self.turns) <= MOST_ROUNDS:
            return True
        answered = await judge.all(reply)
        reply = judge.modified(reply)
        self.replies.append(reply)
        results = self.form.results(answered)
        if judge.goes_on and len(self.replies) <= MOST_ROUNDS:
            self.hidden += [*self.form.history(reply), *results]
            return True
        self.held = results
        return False

    async def _last(self, judge: Judge, upstream: Upstream, reader: Stream | None) -> Step:
        """What ends the exchange, when all of it is kept."""
        changed = len(self.replies) > 1 or judge.changed or (reader is not None and bool(reader.carried.id))
        merged = self.replies[-1]
        if changed:
            merged = self.form.merged(self.replies, judge.visible, words=judge.words or _LIMIT)
            if reader is not None and reader.carried.id:
                merged["id"] = reader.carried.id
        await self._finish(merged, changed=changed)
        if reader is not None:
            raw = b"".join(event.raw for event in reader.endings)
            return Write(reader.last(merged) if changed or not raw else raw)
        if changed or upstream.headers is _MADE:
            return Answer(200, self._content_headers(upstream), write_json(merged))
        return Pass(self.headers())

    def _content_headers(self, upstream: Upstream) -> Mapping[str, str]:
        left = {name: one for name, one in upstream.headers.items() if name.lower() not in _LENGTHS}
        return {**left, **self.headers()}

    def _marked(self, reply: Mapping[str, Any], reader: Stream | None) -> str:
        """What the model said, where that begins with a marker that is answered inside."""
        if self.own or self.context.way is Way.SIDE or has_choices(self.body):
            return ""
        said = self.form.text(reply)
        if reader is not None:
            return said if reader.marked else ""
        return said if is_marker(f"{said} ") else ""

    async def _composed(self) -> dict[str, Any]:
        """The body of the coming round, with everything that belongs into it."""
        if self.context.way is Way.SIDE:
            if self.policy is None:
                self.policy = await self.bridge.current_policy(self.context.conversation, self.names or None)
                self.withheld = _withheld(self.names, self.policy)
            items = [*self.history.items, *self.hidden]
            return self._with_choice(
                self._with_tools({**self.body, self.form.key: items} if self.hidden else self.body)
            )
        self.injection = injection = await self._woven()
        self.policy = injection.policy
        if not self.own:  # a tool of the client may have such a name
            self.policy = replace(self.policy, tools=replace(self.policy.tools, own_tools=()))
        self.parts.seen(injection)
        self.given += injection.skills
        if self.context.way is Way.NEW or (self.context.way is Way.REWRITE and not self.context.known.own):
            self.withheld = self.withheld or (() if self.turns[1:] else _withheld(self.names, injection))
        if injection.leaving:
            self._leave(injection)
        text = SEPARATOR.join(message.text for message in injection.messages)
        if text:
            self._put(text)
        items = [*self.history.items, *self.hidden]
        listed = listed_by_agent([text for piece in self.pieces() for text in piece.message.texts()])
        tail = without_lines(injection.tail, listed)
        at = self.form.place(items) if tail else None
        if at is not None:
            items[at : at + 1] = self.form.put(items[at], tail)
        body = {**self.body, self.form.key: items} if items else dict(self.body)
        catalog = without_lines(injection.catalog, listed)
        if catalog and items:
            body = self.form.with_catalog(body, catalog)
        return self._with_choice(self._with_tools(body))

    async def _woven(self) -> Injection:
        """The turn of this round, claimed; the same request has the same turns."""
        number = len(self.turns)
        of = (
            self.context.turn_id
            if not number
            else turn_id(self.context.conversation, f"{self.context.digest}:{number}")
        )
        self.turns.append(of)
        pieces = self.pieces()
        if self.at_provider and last_spoken(pieces) is None:
            # Results alone: the model that called for them spoke last, in the history that the provider keeps.
            pieces = [HostMessage("", Message(Role.ASSISTANT, None), None), *pieces]
        turn = turn_from(pieces, self.context.conversation, turn_id=of, tools=self.names or None)
        if self._marker:
            turn = replace(turn, message=Message(Role.ASSISTANT, self._marker))
        if self.at_provider:
            turn = replace(turn, transcript=None, append_only=True)
        if self.counts_only:
            return await self.bridge.weaver.preview(turn)
        injection = await self.bridge.weaver.claim(turn)
        if injection.blocks:
            self.open.append(of)
        return injection

    def _put(self, text: str) -> None:
        """Puts a text into the client's history, or into what the model was answered inside."""
        if self.hidden and not self._marker:
            at = self.form.place(self.hidden)
            if at is not None:
                self.hidden[at : at + 1] = self.form.put(self.hidden[at], text)
                return
        at = self.history.place(self.form)
        if at is None:
            return
        digest = self.history.digests[at]
        key = chain_key(str(digest))
        known = self.entries.get(key, EMPTY)
        self.entries[key] = replace(known, text=SEPARATOR.join(filter(None, (known.text, text))))
        put = self.form.put(self.history.items[at], text)
        items = (*self.history.items[:at], *put, *self.history.items[at + 1 :])
        more = (None,) * (len(put) - 1)
        self.history = History(items, (*self.history.digests[: at + 1], *more, *self.history.digests[at + 1 :]))

    def _leave(self, injection: Injection) -> None:
        """Takes out what is to leave the history; the bytes behind it are others from now on."""
        after = {key: without_texts(entry, injection.leaving) for key, entry in self.entries.items()}
        if after == self.entries:
            return
        self.entries = after
        self.notes["Break"] = ",".join(dict.fromkeys(drop.skill_id for drop in injection.leaving))
        self.history = restored(self.form, self.form.items(self.body), self.links, self.entries)

    def _with_tools(self, body: dict[str, Any]) -> dict[str, Any]:
        kept = [tool for tool, name in zip(self.tools, self.names, strict=True) if name not in self.withheld]
        ours = self.form.style.skill_tools() if self.own else []
        if not kept and not ours:
            return {key: one for key, one in body.items() if key not in _OF_TOOLS} if self.tools else body
        return {**body, "tools": [*kept, *ours]} if len(kept) < len(self.tools) or ours else body

    def _with_choice(self, body: dict[str, Any]) -> dict[str, Any]:
        if not body.get("tools"):
            return body
        forced = self.form.forces(body.get("tool_choice"))
        if len(self.replies) >= MOST_ROUNDS:
            return {**body, "tool_choice": self.form.choice(none=True)}
        if forced and forced in self.withheld:
            self.notes["Choice"] = "auto"
        if forced and (self.replies or forced in self.withheld):
            return {**body, "tool_choice": self.form.choice(none=False)}
        return body

    async def _finish(self, merged: Mapping[str, Any], *, changed: bool) -> None:
        """Keeps what the next request needs, and says that what was claimed was delivered."""
        if self.context.way is Way.SIDE:
            return
        digest, conversation = self.context.digest, self.context.conversation
        common = Entry(conversation, own=self.own, withheld=self.withheld, tools=tools_digest(self.names))
        saved = {key: entry for key, entry in self.entries.items() if entry.text or entry.items}
        state = replace(
            common, state=True, turns=tuple(self.turns), text=self.entries.get(chain_key(digest), EMPTY).text
        )
        before = self.context.before
        if before is not None and before != digest:
            saved[chain_key(before)] = replace(self.entries[chain_key(before)], left=True)
        if self.session:
            saved[MAIN] = common
        links = chain_of([self.form.normal(item) for item in self.form.history(merged)], digest)
        if self.links:
            saved[chain_key(digest)] = replace(state, said=links[-1].digest if changed and links else "")
        if changed and links:
            said = (*self.hidden, *self.form.history(self.replies[-1]))
            saved[chain_key(links[-1].digest)] = Entry(conversation, start=digest, items=said, held=tuple(self.held))
        if self.form.own_item and merged.get("id"):
            last = self.replies[-1].get("id")
            saved[response_key(str(merged["id"]))] = replace(common, items=(last,) if last != merged["id"] else ())
        if self.holds:
            saved[self.held_key] = Entry()
        try:
            data = {key: entry.to_bytes() for key, entry in saved.items() if entry != self.loaded.get(key)}
            await self.parts.insertions.keep_entries(self.scope, data, tenant=self.tenant)
            for turn in self.open:
                await self.bridge.weaver.confirm(conversation, turn)
        except (StoreUnavailable, Contended):
            # The reply is worth more: what was not kept is absent in the next request, and given again when wanted.
            self.notes["Passed"] = "what was put in could not be kept"
        self.open.clear()


_EVENTS = "text/event-stream"
_MADE: Mapping[str, str] = {"content-type": "application/json"}
"""The headers of a reply that was kept."""
_OF_TOOLS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})
_LENGTHS = frozenset({"content-length", "content-encoding", "transfer-encoding"})


def response_key(named: str) -> str:
    """The key of a response that the provider keeps."""
    return f"response:{named}"


async def _beside(work: Callable[[Any], Any], value: object, body: bytes) -> Any:  # noqa: ANN401 - whatever it gives
    """What the work gives; of a large body beside the event loop, in which other requests go on."""
    return await asyncio.to_thread(work, value) if len(body) > _LARGE else work(value)


def has_choices(body: Mapping[str, Any]) -> bool:
    """Whether several replies are wanted at once: then nothing is answered inside."""
    return (body.get("n") or 1) != 1


def problem(error: Refused) -> Answer:
    """The problem document of a refusal (RFC 9457)."""
    data = {
        "type": f"urn:skillweave:problem:{error.code}",
        "title": error.code.replace("-", " "),
        "status": error.status,
        "detail": str(error),
        "error": {"type": error.code, "code": error.code, "message": str(error)},
    }
    return Answer(error.status, {"content-type": "application/problem+json"}, write_json(data))


def _withheld(names: Sequence[str], ruled: CurrentPolicy | Injection) -> tuple[str, ...]:
    offered = frozenset(ruled.tools.offers(names))
    return tuple(name for name in names if name not in offered)
