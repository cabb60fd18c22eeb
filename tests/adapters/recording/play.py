"""One conversation of seven messages, played to an agent of any framework over a recording server."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from skillweave import Settings, Weaver
from skillweave_testing.hosts import Asks, Says, Script, Sent, tool_call
from skillweave_testing.hosts.play import SKILLS, Workshop, plain_weaver_in
from tests.adapters.hosts.crowd import CROWD, OffersForms
from tests.adapters.recording.agents import Clients, Made, WireAgent
from tests.recording.server import Recorded, RecordingServer

FILING = next(one for one in SKILLS if one["id"] == "filing")
LIBRARY = (*CROWD, FILING)
"""More skills than a catalog has room for; one has a checkpoint before `submit`."""
YES = {"verdict": "approved", "by": "Kim"}


@dataclass(frozen=True)
class Played:
    """What came of a conversation: the calls as the model was sent them, and the tools that ran."""

    calls: Sequence[Sent]
    requests: Sequence[Recorded]
    ran: Sequence[str]

    @property
    def refusals(self) -> list[str]:
        """What the provider refused."""
        return [one.refusal for one in self.requests if one.refusal]


def weaver_in(folder: Path) -> Weaver:
    """A weaver with default settings and a ledger file in the folder."""
    return plain_weaver_in(folder, LIBRARY, Settings(), [OffersForms()])


async def play(made: Made, folder: Path, *, skills: bool = True, thinks: bool = False) -> Played:
    """Questions, tool loops with parallel calls, a call that waits while the person says something else, and a yes.

    Between some messages the agent is made again over what was kept. Without skills nothing waits.
    """
    script, workshop = Script(), Workshop()
    async with AsyncExitStack() as stack:
        server = stack.enter_context(RecordingServer(script, thinks=thinks))
        clients = Clients(server.anthropic)
        stack.push_async_callback(clients.close)

        def again() -> WireAgent:
            return made(clients, weaver_in(folder) if skills else None, workshop.tools, folder)

        await _conversation(again, script, skills=skills)
    return Played(script.sent, server.requests, workshop.ran)


async def _conversation(again: Callable[[], WireAgent], script: Script, *, skills: bool) -> None:
    opening = (tool_call("read_skill", skill_id="form-007"),) if skills else ()
    agent = again()
    script.then(Says(asks=(_search("a"), _search("b"))), "Quite a lot.")
    await agent.say("What can you do?")
    script.then(Says("Let me see.", (_search("c"),)), "It is right.")
    await agent.say("Is this invoice right?")
    script.then(Says(asks=(*opening, _search("d"))), Says("One more.", (_search("e"),)), "Two of them.")
    await agent.say("Is there anything left in the drawer?")

    agent = again()
    script.then(Says(asks=(tool_call("submit", text="F1"), _search("f"))))
    await agent.say("Please assemble the filing.")
    _require(agent.waiting == skills, "a call waits where there are skills")
    agent = again()
    script.then("Four.")
    await agent.say("Wait. What is 2+2?")
    _require(not agent.waiting, "nothing waits after another message")

    agent = again()
    script.then(Says(asks=(tool_call("submit", text="F2"),)), "It is filed.")
    await agent.say("Then submit that filing.")
    if skills:
        _require(agent.waiting, "the next call waits again")
        agent = again()
        await agent.resume(YES)
    await agent.say("Say bonjour to Alice")


def _search(text: str) -> Asks:
    return tool_call("search", text=text)


def _require(holds: object, what: str) -> None:
    if not holds:
        raise AssertionError(f"not so: {what}")
