"""A model for the examples that call a provider: a script behind the server that the tests of adapters use.

The provider's own client classes talk to it, and it refuses what the provider would refuse. It says what it was sent,
so that a page shows what really arrives, and it calls the tool `search_ledger` once where that is offered.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from skillweave_testing.hosts import Says, Script, Sent, tool_call
from tests.recording.server import RecordingServer

LOCAL = "http://localhost:8080"
"""The address that pages give for a model on one's own machine; the script's takes its place."""
_HEADER = "=== Skill Activated: "
_TOOL = "search_ledger"


class Told(Script):
    """A script without an end whose replies are about the call itself."""

    def reply(self, sent: Sent) -> Says:
        """Count the messages behind the system prompt, and name the skills and tools in the call."""
        skills = [text[len(_HEADER) :].partition(" ===")[0] for text in sent.texts if text.startswith(_HEADER)]
        words = f"I have messages: {len(sent.messages)}, skills: {', '.join(skills) or 'none'}"
        if _TOOL in sent.tools and not sent.times_in_messages("tool_call_id"):
            self.then(Says(asks=(tool_call(_TOOL, vendor="Brandt GmbH"),)))
        else:
            self.then(f"{words}, tools: {', '.join(sent.tools)}" if sent.tools else words)
        return super().reply(sent)


@contextmanager
def scripted_provider() -> Iterator[str]:
    """The address of a running server; it ends with the block."""
    with RecordingServer(Told()) as server:
        yield server.anthropic
