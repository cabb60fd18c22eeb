"""Which session a request belongs to, by the ids that clients send (spec 12.2; facts in the docs of the gateway).

An id names a session and authorises nothing: it counts within one tenant, one upstream and one credential.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from skillweave.dialogue import LONGEST_ID
from skillweave.exchange.wire import Unreadable, read_json

OURS = "x-skillweave-"
"""What the names of our own headers begin with: none of them goes upstream."""
CONVERSATION = f"{OURS}conversation"
# The headers by which agents name a session, and those that name a sub-agent in it: Claude Code, Codex (two spellings),
# OpenCode, LiteLLM, and what others agreed on.
_SESSIONS: Mapping[str, str | None] = {
    "x-claude-code-session-id": "x-claude-code-agent-id",
    "session-id": None,
    "session_id": None,
    "x-session-affinity": None,
    "x-litellm-session-id": None,
    "x-session-id": None,
}
_CODEX = "codex"
_WITH_TOOLS = (_CODEX, "claude-cli", "opencode")
_LONGEST = 200
_SESSION_IN_USER = re.compile(r"_session_([0-9a-fA-F-]{8,64})$")


@dataclass(frozen=True, slots=True)
class Scope:
    """Within what ids and content count: `name` is the digest of tenant, upstream and credential, or empty.

    In process one client is one scope, whose conversations keep their own ids.
    """

    name: str = ""

    @classmethod
    def of(cls, tenant: str, upstream: str, credential: str) -> "Scope":
        """The scope of a request to this upstream with this credential."""
        joined = "\0".join((tenant, upstream, credential))
        return cls(sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:12])

    def conversation(self, session: str) -> str:
        """The id in the ledger of this session, or of `{session}/{agent}`."""
        head, slash, agent = session.partition("/")
        whole = f"{head}@{self.name}{slash}{agent}" if self.name else session
        if len(whole) <= _LONGEST and whole.isprintable():
            return whole
        return f"session-{sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()}"


def session_of(headers: Mapping[str, str], body: Mapping[str, Any], named: str = "") -> str:
    """Returns the id that a client gave its session, empty where it gave none.

    `headers` have names in lower case; `named` is what the process itself says. Raises Unreadable for an id of ours
    that is too long.
    """
    ours = named or headers.get(CONVERSATION, "")
    if len(ours) > LONGEST_ID:
        raise Unreadable(f"the id of the conversation has {len(ours)} characters; give at most {LONGEST_ID}")
    if ours:
        return ours
    for name, agent in _SESSIONS.items():
        if headers.get(name):
            part = headers.get(agent, "") if agent else ""
            return f"{headers[name]}/{part}" if part else headers[name]
    return _in_body(headers, body)


def always_has_tools(headers: Mapping[str, str]) -> bool:
    """Whether an agent asks whose chat always has tools, so that a request without them is beside it: a title, say."""
    return any(name in _agent(headers) for name in _WITH_TOOLS)


def _agent(headers: Mapping[str, str]) -> str:
    return " ".join((headers.get("user-agent", ""), headers.get("originator", ""))).lower()


def _in_body(headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
    kept = body.get("conversation")
    kept = kept.get("id") if isinstance(kept, Mapping) else kept
    if isinstance(kept, str) and kept:
        return kept
    metadata = body.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    if isinstance(user, str) and (session := _session_in(user)):
        return session
    key = body.get("prompt_cache_key")
    # Others share one key between all their users.
    return key if isinstance(key, str) and key and _CODEX in _agent(headers) else ""


def _session_in(user: str) -> str:
    """The session in the text by which Claude Code names its user, in either of its two forms."""
    found = _SESSION_IN_USER.search(user)
    if found:
        return found[1]
    if not user.startswith("{"):
        return ""
    try:
        read = read_json(user)
    except Unreadable:
        return ""
    session = read.get("session_id") if isinstance(read, dict) else None
    return session if isinstance(session, str) else ""
