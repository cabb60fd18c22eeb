"""The calls of a reply: ours are answered, denied ones never reach the client, at a checkpoint a person is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillweave.adapters.approval import Reply, as_replied
from skillweave.adapters.bridge import Judged as Ruled
from skillweave.adapters.chat import Call, words_for
from skillweave.compose.policy import OWN_TOOLS, Ruling, ToolPolicy
from skillweave.exchange.forms import Answered
from skillweave.exchange.request import Request
from skillweave.exchange.steps import Question
from skillweave.exchange.streams import Block, Fate, Stream
from skillweave.exchange.wire import write_json

NOBODY = "it waits for a person's approval, and nobody could be asked; go on without it"
LATE = "it waited for a person's approval, and nobody decided in time; go on without it, or try again later"


@dataclass(slots=True)
class Judge:
    """Judges the calls of one exchange, round by round.

    `visible` are the calls of the latest reply that the client may see, `changed` says that it gets another reply than
    the model gave, `words` stand in for a reply of which nothing is left.
    """

    exchange: Request
    visible: list[Call] = field(default_factory=list)
    changed: bool = False
    words: str = ""
    _answered: list[Answered] = field(default_factory=list)
    _new: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def by_name(self, name: str) -> Fate:
        """What becomes of a call of this tool, whatever its arguments; it waits where these matter."""
        if self._is_own(name):
            return Fate.DROP
        return Fate.GO if is_free(self._tools, name) else Fate.WAIT

    def whole(self, call: Call) -> Fate:
        """What becomes of a whole call, as far as the policy alone can say."""
        if is_free(self._tools, call.name):
            return Fate.GO
        if call.problem:
            return Fate.DROP
        verdict = self._tools.authorize(
            call.name,
            call.arguments,
            call_id=call.id or None,
            parameters=call.parameters,
            host_tools=self.exchange.names,
        )
        return {Ruling.ALLOW: Fate.GO, Ruling.DENY: Fate.DROP, Ruling.ASK: Fate.WAIT}[verdict.ruling]

    @property
    def goes_on(self) -> bool:
        """Whether the model is to go on: something was answered inside, and the client has nothing to run."""
        return bool(self._answered) and not self.visible and (self.exchange.body.get("n") or 1) == 1

    async def all(self, reply: Mapping[str, Any]) -> list[Answered]:
        """Returns the calls that are answered inside. All questions are settled before anything runs."""
        exchange, self.visible, self._answered, self._new = self.exchange, [], [], {}
        calls = exchange.form.found(reply, exchange.tools)
        judged = {n: await self._judged(call) for n, call in enumerate(calls) if not self._is_own(call.name)}
        replied: dict[int, Reply | None] = {}
        if exchange.parts.approve is not None and any(one is not None and one.waits for one in judged.values()):
            await exchange.hold(reply)
        for n, one in judged.items():
            if one is not None and one.waits:
                replied[n] = await self._asked(calls[n], one)
        for n, call in enumerate(calls):
            if self._is_own(call.name):
                await self._own(call, reply)
            elif judged[n] is None:
                self.visible.append(call)
            else:
                await self._settle(call, judged[n], replied.get(n))  # type: ignore[arg-type]
        self.changed = self.changed or bool(self._answered or self._new)
        failed = [one.text for one in self._answered if one.failed]
        self.words = "\n".join(failed)
        return self._answered

    def modified(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Returns the reply with the arguments that a person gave to calls."""
        return with_arguments(reply, self._new) if self._new else reply

    def fates(self, reader: Stream) -> dict[Block, Fate]:
        """Returns what became of the calls that waited in a stream."""
        seen = {call.id for call in self.visible}
        blocks = reader.blocks()
        for call_id, arguments in self._new.items():
            if call_id in blocks:
                reader.rewrite(blocks[call_id], write_json(dict(arguments)).decode())
        return {block: Fate.GO if call_id in seen else Fate.DROP for call_id, block in blocks.items()}

    async def _judged(self, call: Call) -> Ruled | None:
        """The ruling; None for a call that no rule is about."""
        if is_free(self._tools, call.name):
            return None
        exchange = self.exchange
        return await exchange.bridge.judge(
            call,
            exchange.context.conversation,
            exchange.names or None,
            now=exchange.policy,
            host_tools=exchange.names,
        )

    async def _asked(self, call: Call, judged: Ruled) -> Reply | None:
        approve = self.exchange.parts.approve
        if approve is None:
            return None
        context = self.exchange.context
        return await approve(Question(context.conversation, context.turn_id, call, judged.waits))

    async def _settle(self, call: Call, judged: Ruled, reply: Reply | None) -> None:
        """Lets a call go, or denies it: directly before it goes out, and the same for every flight of one request."""
        exchange, verdict = self.exchange, judged.verdict
        if reply is not None and (changed := as_replied(call, reply)) is not call:
            self._new[call.id] = dict(changed.arguments or {})
            call = changed
        if verdict.ruling is not Ruling.DENY:
            verdict = await exchange.bridge.weaver.authorize(
                await exchange.bridge.current_policy(exchange.context.conversation, exchange.names or None),
                call.name,
                call.arguments,
                call_id=call.id or None,
                parameters=call.parameters,
                host_tools=exchange.names,
                key=exchange.context.turn_id,
            )
        if verdict.ruling is Ruling.ALLOW:
            self.visible.append(call)
            return
        self._new.pop(call.id, None)
        why = words_for(verdict)
        if verdict.ruling is Ruling.ASK:
            why = f"{why}; {NOBODY if exchange.parts.approve is None else LATE}"
        self._deny(call, why)

    def _deny(self, call: Call, why: str) -> None:
        self._answered.append(Answered(call, why, failed=True))

    async def _own(self, call: Call, reply: Mapping[str, Any]) -> None:
        exchange = self.exchange
        # What the provider keeps is not seen here: then the ledger says what is there.
        chat = None if exchange.at_provider else exchange.pieces(exchange.form.history(reply))
        answer = await exchange.bridge.answer(call, exchange.context.conversation, chat, exchange.names or None)
        if answer.injection is not None:
            exchange.turns.append(answer.injection.turn_id)
            exchange.given += answer.injection.skills
        self._answered.append(Answered(call, answer.text, answer.failed))

    def _is_own(self, name: str) -> bool:
        return self.exchange.own and name in OWN_TOOLS

    @property
    def _tools(self) -> ToolPolicy:
        policy = self.exchange.policy
        assert policy is not None  # noqa: S101 - a reply is judged after its turn
        return policy.tools


def is_free(tools: ToolPolicy, name: str) -> bool:
    """Whether no rule is about any tool: such calls go on unread, as they would without us."""
    limited = tools.allowed_tools is not None or tools.forbidden_tools or tools.closed
    return not (limited or tools.asks or tools.rejected_calls or tools.elsewhere.denies(name))


def with_arguments(reply: dict[str, Any], new: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the reply, of any form, with new arguments in the calls of these ids."""

    def changed(node: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(node, list):
            return [changed(one) for one in node]
        if not isinstance(node, dict):
            return node
        arguments = new.get(str(node.get("call_id") or node.get("id")))
        if arguments is None or not _is_call(node):
            return {key: changed(one) for key, one in node.items()}
        if "input" in node and node.get("type") == "tool_use":
            return {**node, "input": dict(arguments)}
        written = write_json(dict(arguments)).decode()
        if isinstance(node.get("function"), dict):
            return {**node, "function": {**node["function"], "arguments": written}}
        return {**node, "arguments": written} if "arguments" in node else {**node, "input": arguments.get("input")}

    found: dict[str, Any] = changed(reply)
    return found


def _is_call(node: Mapping[str, Any]) -> bool:
    return (
        "function" in node or "custom" in node or node.get("type") in ("tool_use", "function_call", "custom_tool_call")
    )
