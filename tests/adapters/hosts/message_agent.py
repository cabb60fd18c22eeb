"""An agent without a framework, as people write its loop by hand over message lists kept in a file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillweave import Injection, Placement, Ruling, Weaver
from skillweave.adapters.approval import as_replied, read_reply, record
from skillweave.adapters.messages import Call
from skillweave.compose.policy import OWN_TOOLS
from skillweave.turns import CurrentPolicy
from skillweave_testing.hosts import Says, Script, Sent, as_json
from skillweave_testing.hosts.play import BASE, CONVERSATION, Workshop
from tests import chatting
from tests.chatting import Request, Shapes


class MessageAgent:
    """The loop of a host that pauses where a call waits for a person: it writes the chat down and stops."""

    def __init__(
        self,
        weaver: Weaver,
        script: Script,
        workshop: Workshop,
        memory: Path,
        shapes: Shapes,
        placement: Placement,
    ) -> None:
        self.weaver = weaver
        self.script = script
        self.shapes: Any = shapes
        self.style: Any = shapes.style
        self.placement = placement
        self.runs = {tool.name: tool.run for tool in workshop.tools}
        self.tools = [*(shapes.tool(name) for name in self.runs), *self.style.skill_tools()]
        self.file = memory / "chat.json"
        self.chat: list[Any] = json.loads(self.file.read_text("utf-8")) if self.file.exists() else []
        self.before: list[Any] = []
        self.waiting: Sequence[str] = ()
        self.injection: Injection | None = None
        self.changed: dict[str, Call] = {}

    async def say(self, text: str) -> str:
        self.before = self.chat
        self.chat = self.style.go_on(self.chat, text) if self._open_calls() else [*self.chat, self.shapes.user(text)]
        self.waiting = ()
        return await self._run()

    async def again(self) -> str:
        said = next(m for m in self.chat[len(self.before) :] if m.get("role") == "user")
        self.chat = [*self.before, said]
        return await self._run()

    async def compact(self, summary: str) -> None:
        self.chat = [self.shapes.user(summary), *self.shapes.heard([], self.shapes.reply(chatting.Says("I see."), []))]

    async def kept(self) -> Sequence[str]:
        return [as_json(message) for message in self.chat]

    async def resume(self, reply: Mapping[str, object]) -> str:
        now, said = await self._now(), read_reply(reply)
        for call in self._open_calls():
            verdict = now.tools.authorize(call.name, call.arguments, call_id=call.id)
            asked = [one for one in now.checkpoints if one.name in verdict.checkpoints and one.before == call.name]
            if asked and said.call in ("", call.id):
                await record(self.weaver, CONVERSATION, (asked, said, call))
                self.changed[call.id] = as_replied(call, said)
        self.waiting = ()
        await self._answered([self.changed.get(call.id, call) for call in self._open_calls()])
        return "" if self.waiting else await self._run()

    async def _run(self) -> str:
        while True:
            turn = self.style.turn(self.chat, conversation=CONVERSATION, tools=self.tools, placement=self.placement)
            self.injection = injection = await self.weaver.weave(turn)
            self.chat = self.shapes.ended_by_user(self.style.place(self.chat, injection))
            said = self._ask(injection)
            if not said.asks:
                self._keep()
                return said.text
            await self._answered(self._open_calls())
            self._keep()
            if self.waiting:
                return said.text

    def _ask(self, injection: Injection) -> Says:
        system = self.style.system(BASE, injection)
        sent = self.style.with_tail(self.chat, injection)
        request = Request(system, sent, self.style.offer(self.tools, injection))
        self.shapes.check(request)
        said = self.script.reply(
            Sent(
                system if isinstance(system, str) else "\n\n".join(block["text"] for block in system),
                tuple(map(as_json, sent)),
                tuple(request.tool_names()),
                tuple(map(as_json, request.tools)),
            )
        )
        calls = tuple((asks.tool, asks.arguments) for asks in said.asks)
        reply = self.shapes.reply(chatting.Says(said.text, calls), [asks.id for asks in said.asks])
        self.chat = self.shapes.heard(self.chat, reply)
        return said

    async def _now(self) -> Injection | CurrentPolicy:
        now = await self.weaver.current_policy(CONVERSATION, placement=self.placement, held=self.injection)
        return self.injection if self.injection and now.without_ledger and not now.tools.closed else now

    def _open_calls(self) -> tuple[Call, ...]:
        calls: tuple[Call, ...] = self.style.unanswered(self.chat)
        return calls

    async def _answered(self, calls: Sequence[Call]) -> None:
        now = await self._now()
        verdicts = [now.tools.authorize(call.name, call.arguments, call_id=call.id) for call in calls]
        self.waiting = [name for verdict in verdicts for name in verdict.checkpoints]
        if not self.waiting:
            results = []
            for call in calls:
                results.append(await self._result(call, now))
                now = await self._now() if call.name in OWN_TOOLS else now  # what it read applies from here on
            self.chat = self.shapes.answered(self.chat, results)

    async def _result(self, call: Call, now: Injection | CurrentPolicy) -> dict[str, Any]:
        if call.name in OWN_TOOLS:
            transcript = self.style.transcript(self.chat)
            answer = await self.weaver.tools.call(
                call.name,
                call.arguments,
                conversation=CONVERSATION,
                call_id=call.id,
                transcript=transcript,
                placement=self.placement,
            )
            answered: dict[str, Any] = self.style.answer(call, answer)
            return answered
        verdict = await self.weaver.authorize(now, call.name, call.arguments, call_id=call.id)
        if verdict.ruling is not Ruling.ALLOW:
            refused: dict[str, Any] = self.style.refuse(call, verdict)
            return refused
        try:
            ran = self.runs[call.name](str((call.arguments or {}).get("text")))
        except RuntimeError as error:
            ran = f"failed: {error}"
        done: dict[str, Any] = self.shapes.ran(call, ran)
        return done

    def _keep(self) -> None:
        self.file.write_text(json.dumps(self.chat), "utf-8")
