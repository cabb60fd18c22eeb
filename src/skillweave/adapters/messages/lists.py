"""What the styles share: reading a list of messages, declared tools, the Turn, and taking skill text out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from skillweave.adapters.chat import NOT_RUN, Call, HostMessage, TurnOptions, parameters_in, turn_from, words_for
from skillweave.compose.policy import Verdict
from skillweave.dialogue import Message, Part, Role, Turn, require_known
from skillweave.disclose.block import TAKEN_OUT, digest_in, text_digest
from skillweave.errors import InvalidTurn
from skillweave.injection import Drop, Injection
from skillweave.turn.reconcile import split_at_blocks
from skillweave.weaver.tools import TOOLS, ToolAnswer, ToolSpec

_TEXT_TYPES = ("text", "input_text", "output_text")
_SEE = " (lists for the Responses API are read by responses_style)"


def plain(value: object) -> Mapping[str, Any] | None:
    """The value as a mapping: itself, or what an SDK's object dumps; None when it is neither."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    dumped = dump() if callable(dump) and not isinstance(value, type) else None
    return dumped if isinstance(dumped, Mapping) else None


def listed(value: object) -> Sequence[Any]:
    """The elements of a list or tuple, none for anything else."""
    return value if isinstance(value, list | tuple) else ()


def entries(chat: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each message with the words that name its place; raises InvalidTurn for what is not a list of messages."""
    if not isinstance(chat, Sequence) or isinstance(chat, str | bytes):
        raise InvalidTurn(f"the chat is a {_kind(chat)}; give a list of messages")
    if not chat:
        raise InvalidTurn("the chat is empty; give at least the user's message")
    for index, raw in enumerate(chat):
        message = plain(raw)
        if message is None:
            raise InvalidTurn(f"chat[{index}] is a {_kind(raw)}, no message; give a dict with 'role' and 'content'")
        yield f"chat[{index}]", message


def role_of(message: Mapping[str, Any], where: str, known: Sequence[str]) -> str:
    """The message's role; raises InvalidTurn for one that the provider does not know."""
    role = message.get("role")
    if not isinstance(role, str) or role not in known:
        given = "no role" if role is None else f"the unknown role {str(role)[:40]!r}"
        raise InvalidTurn(f"{where} has {given}; use one of {', '.join(known)}")
    return role


def parts_of(content: object, where: str, text: str = "text") -> tuple[Part, ...]:
    """Content as parts: text as text, a host's other parts as they are; no part for an empty text.

    `text` is the type of a text part; raises InvalidTurn for the type that it has in another interface.
    """
    if isinstance(content, str):
        return (content,) if content else ()
    if not isinstance(content, list | tuple):
        what = "no content" if content is None else f"content of type {_kind(content)}"
        raise InvalidTurn(f"{where} has {what}; give a text or a list of parts")
    return tuple(_part(raw, f"{where}.content[{index}]", text) for index, raw in enumerate(content))


def _part(raw: object, where: str, kind: str) -> Part:
    part = plain(raw)
    if part is None or not isinstance(part.get("type"), str):
        raise InvalidTurn(f"{where} is a {_kind(raw)} without a type; give a dict such as {{'type': {kind!r}, ...}}")
    if part["type"] != kind:
        if part["type"] in _TEXT_TYPES:
            raise InvalidTurn(
                f"{where} is of type {part['type']!r}; a text that stands there is of type {kind!r}{_SEE}"
            )
        return part
    text = part.get("text")
    if not isinstance(text, str):
        raise InvalidTurn(f"{where} is a text part without text; give it a 'text' of type str")
    return text


def _kind(value: object) -> str:
    return type(value).__name__


def require_style(reply: object, style: str) -> None:
    """Raise InvalidTurn, naming the right style, for a reply of an interface that another style reads."""
    found = plain(reply) or {}
    shapes = {
        "openai_style": "choices" in found,
        "responses_style": found.get("object") == "response" or isinstance(found.get("output"), list),
        "anthropic_style": found.get("type") == "message" and "stop_reason" in found,
    }
    right = next((name for name, fits in shapes.items() if fits and name != style), None)
    if right is not None and not shapes[style]:
        raise InvalidTurn(f"this reply is one that {right}.calls reads, not {style}.calls; import {right}")


def offer(tools: Sequence[Any] | None, injection: Injection) -> list[Any]:
    """The declarations that the model may see in this call, as they are and in their order.

    All styles: `{"type": "function", "function": {"name": ...}}`, `{"name": ...}`; a provider's own tool without a
    name goes by its type. OpenAI refuses an empty list: leave `tools` out then. Hiding is not enough, because a model
    may name a hidden tool: judge each of `calls` too.
    """
    names = tool_names(tools or ())
    offered = frozenset(injection.tools.offers(names))
    return [tool for tool, name in zip(tools or (), names, strict=True) if name in offered]


def tool_names(tools: Sequence[Any]) -> tuple[str, ...]:
    """The name of each declaration; a name stands for itself. Raises InvalidTurn for one that names nothing."""
    return tuple(_name(tool, index) for index, tool in enumerate(tools))


def with_parameters(calls: Iterable[Call], tools: Sequence[Any] | None) -> tuple[Call, ...]:
    """The calls, each with the names of its tool's parameters where the declarations say them."""
    declared = dict(zip(tool_names(tools or ()), map(_parameters, tools or ()), strict=True))
    return tuple(replace(call, parameters=declared.get(call.name)) for call in calls)


def _parameters(tool: object) -> tuple[str, ...] | None:
    declared = plain(tool) or {}
    if declared.get("type") == "custom" and "input_schema" not in declared:
        return ("input",)
    inner = plain(declared.get("function")) or declared
    return parameters_in(inner.get("input_schema") or inner.get("parameters"))


def _name(tool: object, index: int) -> str:
    if isinstance(tool, str):
        return tool
    declared = plain(tool) or {}
    inner = plain(declared.get("function")) or plain(declared.get("custom")) or {}
    name = declared.get("name") or inner.get("name") or declared.get("type")
    if not isinstance(name, str) or not name:
        raise InvalidTurn(f"tools[{index}] names no tool; give a declaration with a 'name', or the name itself")
    return name


@dataclass(frozen=True, slots=True)
class Style:
    """The verbs that are alike in all styles, made of what each style says for itself.

    `read` reads a list that is not empty, `found` gives the calls in a reply, `declared` a tool's declaration, and
    `result` the answer to a call: its text, and whether it failed.
    """

    name: str
    read: Callable[[Sequence[Any]], list[HostMessage]]
    found: Callable[[Mapping[str, Any]], Iterable[Call]]
    declared: Callable[[ToolSpec], dict[str, Any]]
    result: Callable[[Call, str, bool], dict[str, Any]]

    def turn(self, chat: Sequence[Any], *, conversation: str, **options: Unpack[TurnOptions]) -> Turn:
        """Returns the Turn of a chat that is about to be sent; the same chat is the same turn, with or without ours.

        Messages are dicts, or objects of an SDK that dump as such; of the Responses API append all of
        `response.output`, what the model thought too. Raises InvalidTurn, naming the index, and TypeError for an
        unknown option.
        """
        require_known(options, TurnOptions.__optional_keys__)
        tools = options.get("tools")
        fields = TurnOptions(**{**options, "tools": None if tools is None else tool_names(tools)})
        return turn_from(self.read(chat), conversation, **fields)

    def transcript(self, chat: Sequence[Any]) -> tuple[Message, ...]:
        """Returns what the model will be sent, also in the middle of its tool calls: for `Weaver.tools.call`."""
        return tuple(piece.message for piece in self.read(chat))

    def calls(self, reply: object, tools: Sequence[Any] | None = None) -> tuple[Call, ...]:
        """Returns the tool calls of a reply, or of its message or items, in order.

        What runs at the provider is not among them, nor are the calls of a provider's own tools that a host runs
        (`shell_call`, `apply_patch_call`, `computer_call`): judge those by the type of the tool,
        `injection.tools.authorize("shell")`. `tools` are the declarations of all tools of the host: then each call
        knows its tool's parameters, by which rules on arguments are judged. Raises InvalidTurn for a reply of another
        API, naming the style that reads it, and for one whose history a server keeps.
        """
        require_style(reply, self.name)
        return with_parameters(self.found(plain(reply) or {"output": reply}), tools)

    def unanswered(self, chat: Sequence[Any], tools: Sequence[Any] | None = None) -> tuple[Call, ...]:
        """Returns the model's last calls without a result, in order: they run, wait for a person, or are refused.

        `tools` are the host's declarations, as for `calls`.
        """
        pieces = self.read(chat) if chat else []
        last = max((n for n, piece in enumerate(pieces) if piece.message.role is Role.ASSISTANT), default=None)
        if last is None:
            return ()
        answered = {piece.result.call for piece in pieces[last + 1 :] if piece.result is not None}
        return with_parameters((call for call in pieces[last].calls if call.id and call.id not in answered), tools)

    def go_on(self, chat: Sequence[Any], said: str | Sequence[Any]) -> list[Any]:
        """Returns a new list with the user's next message, a text or parts; waiting calls are answered as not run.

        So a chat can go on while a person has yet to approve a call: the question about it is void then.
        """
        void = (self.refuse(call, NOT_RUN) for call in self.unanswered(chat))
        return [*chat, *void, {"role": "user", "content": said}]

    def skill_tools(self) -> list[dict[str, Any]]:
        """Returns the declarations of skillweave's own tools, to stand beside the host's; always the same."""
        return [self.declared(spec) for spec in TOOLS.values()]

    def answer(self, call: Call, answer: ToolAnswer) -> dict[str, Any]:
        """Returns the result of a call of one of skillweave's own tools; its text stays as it is, to be recognised."""
        return self.result(call, answer.text, answer.failed)

    def refuse(self, call: Call, why: Verdict | str) -> dict[str, Any]:
        """Returns the result of a call that was not run, written for the model to read.

        Anthropic wants the results of all calls of one reply in one user message, before any text.
        """
        return self.result(call, words_for(why), True)  # noqa: FBT003 - it failed


def take_out(chat: Sequence[Any], drops: Sequence[Drop]) -> list[Any]:
    """A new list without the texts that may go; tool results keep their place, with a line that says what happened.

    Give the next turn this list: skillweave sees in it that the texts are gone. `chat` stays as it is. A text that
    stands in it more often than it may go stays where it stands last.
    """
    carriers = dict.fromkeys(drop.message_id for drop in drops)
    going = Counter(digest for carrier in carriers if (digest := digest_in(carrier)))
    return left_of(chat, going)


def texts_left(texts: Sequence[str], drops: Sequence[Drop]) -> list[str]:
    """Each of these texts without those that may go; the line TAKEN_OUT for one that was nothing else."""
    return [left["content"] for left in take_out([{"role": "user", "content": text} for text in texts], drops)]


def left_of(chat: Sequence[Any], going: Counter[str]) -> list[Any]:
    """A new list without texts of these digests, each so often; `going` is counted down."""
    return [message for raw in chat for message in _left_of_message(raw, going)] if going else list(chat)


def _left_of_message(raw: Any, going: Counter[str]) -> list[Any]:  # noqa: ANN401 - messages are the host's
    message = plain(raw) or {}
    key = "output" if str(message.get("type")).endswith("call_output") else "content"
    content = message.get(key)
    left = _left_of(content, going)
    if left is content:
        return [raw]
    if left == TAKEN_OUT and message.get("role") in ("system", "developer"):
        return []
    return [{**message, key: left}]


def _left_of(content: Any, going: Counter[str]) -> Any:  # noqa: ANN401
    if isinstance(content, str):
        return _left_of_text(content, going)
    parts = [_left_of_part(raw, going) for raw in listed(content)]
    changed = any(left is not raw for left, raw in zip(parts, listed(content), strict=True))
    return parts if changed else content


def _left_of_part(raw: Any, going: Counter[str]) -> Any:  # noqa: ANN401
    part = plain(raw) or {}
    key = "text" if part.get("type") in _TEXT_TYPES else "content"
    held = part.get(key)
    left = _left_of(held, going)
    return raw if left is held else {**part, key: left}


def _left_of_text(text: str, going: Counter[str]) -> str:
    before, blocks = split_at_blocks(text)
    kept = []
    for block in blocks:
        digest = text_digest(block)
        if going[digest] > 0:
            going[digest] -= 1
        else:
            kept.append(block)
    if len(kept) == len(blocks):
        return text
    left = "".join([before, *kept]).rstrip("\n")
    return left if left.strip() else TAKEN_OUT
