"""The stage of the contract: a weaver, a script, tools, and one agent among them that may be made again."""

from pathlib import Path

import pytest

from skillweave.conversation import Placement
from skillweave.graph import SkillGraph
from skillweave.testing.hosts.agent import HostedAgent
from skillweave.testing.hosts.script import Script
from skillweave.testing.hosts.skills import Workshop, weaver_in
from skillweave.weaver import OnStoreFailure, Weaver

CONVERSATION = "office-1"


class Play:
    """One conversation with one agent; `restart` makes weaver and agent again over what was kept."""

    def __init__(self, contract: "HostContract", folder: Path, on_store_failure: OnStoreFailure) -> None:
        self._contract = contract
        self._folder = folder
        self._on_store_failure = on_store_failure
        self._graph: SkillGraph | None = None
        self.script = Script()
        self.workshop = Workshop()
        self.weaver, self.agent = self._opened()

    def restart(self) -> None:
        """The same conversation in a new process: nothing but files is left of the old one."""
        self.weaver, self.agent = self._opened()

    def begin_in(self, graph: SkillGraph) -> None:
        """The conversation is to be one in this skill graph; call it before anything is said."""
        self._graph = graph
        self.weaver, self.agent = self._opened()

    def _opened(self) -> tuple[Weaver, HostedAgent]:
        weaver = weaver_in(self._folder, self._on_store_failure, self._graph)
        return weaver, self._contract.agent(weaver, self.script, self.workshop, self._folder)


class HostContract:
    """Inherit a contract, say the placement, and give `agent`."""

    placement: Placement

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        """An agent of the framework with the adapter, in conversation CONVERSATION.

        Its model is the script, its system prompt BASE, its tools are the workshop's and skillweave's own; what the
        host keeps of a conversation is in the folder.
        """
        raise NotImplementedError("a subclass gives the agent")

    @pytest.fixture
    def play(self, tmp_path: Path) -> Play:
        """A new conversation."""
        return Play(self, tmp_path, OnStoreFailure.FAIL_OPEN)

    @pytest.fixture
    def careful_play(self, tmp_path: Path) -> Play:
        """One whose weaver withholds skills and tools while the ledger does not answer."""
        return Play(self, tmp_path, OnStoreFailure.FAIL_CLOSED)
