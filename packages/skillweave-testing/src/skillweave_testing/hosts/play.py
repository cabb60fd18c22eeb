"""The stage of the contract: skills, a weaver, a script, tools, and one agent among them that may be made again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import skillweave
from skillweave import CatalogMode, Matcher, MemoryStore, Placement, Settings, SqliteStore, Weaver
from skillweave.graph import SkillGraph
from skillweave.selection import DEFAULT as DEFAULT_MATCHERS
from skillweave_testing.fakes import FailingStore, WordCounter
from skillweave_testing.hosts import HostedAgent, Script, Tool

INVOICES = "Compare the bank account with the last three payments."
GREETINGS = "Greet in the language that was used."
FILING = "Assemble the filing, then submit it."
NARRATIVE = "Write why good cause exists."

SKILLS: tuple[dict[str, Any], ...] = (
    {
        "id": "invoice-checking",
        "description": "Checks invoices before they are paid.",
        "triggers": ["invoice"],
        "text": {"instructions": INVOICES},
        "tools": {"forbidden": ["write"]},
    },
    {
        "id": "greetings",
        "description": "Greets people in their language.",
        "triggers": ["bonjour"],
        "text": {"instructions": GREETINGS},
    },
    {
        "id": "filing",
        "description": "Assembles filings.",
        "triggers": ["filing"],
        "text": {"instructions": FILING},
        "checkpoints": [{"name": "pre_filing", "before": "submit", "asks": "Is everything there?"}],
    },
    {
        "id": "narrative",
        "description": "Writes good cause narratives.",
        "triggers": ["narrative"],
        "text": {"instructions": NARRATIVE},
        "checkpoints": [{"name": "good_cause_review", "asks": "Is the reasoning sound?"}],
    },
)
FILING_SKILL = next(one for one in SKILLS if one["id"] == "filing")
FILING_FOR_ALL: dict[str, Any] = {
    **FILING_SKILL,
    "checkpoints": [{**FILING_SKILL["checkpoints"][0], "scope": "conversation"}],
}
"""The same with a checkpoint whose verdict is about every call of the conversation."""
AUDIT_SKILL: dict[str, Any] = {
    "id": "audit",
    "description": "Looks over what was submitted.",
    "triggers": ["audit"],
    "text": {"instructions": "Count the pages."},
    "checkpoints": [{"name": "audit_release", "before": "submit"}],
}
"""Another skill that asks before the tool of the first."""
EVERYDAY: tuple[dict[str, Any], ...] = (
    {
        "id": "travel-expenses",
        "description": "Fill in a claim for travel expenses: trains, hotels and meals, with receipts.",
        "triggers": {"keywords": ["travel expenses"]},
        "instructions": "List each receipt.",
    },
    {
        "id": "meeting-minutes",
        "description": "Write the minutes of a meeting: who was there, what was decided, who does what.",
        "instructions": "Write who decided what.",
    },
    {
        "id": "translate-letter",
        "description": "Translate a business letter from German into English.",
        "triggers": {"patterns": ["translate (this|the) letter"]},
        "instructions": "Keep the form of address.",
    },
)
"""A library that selects by triggers and by words."""
EVERYDAY_MESSAGES = (
    "Hello",
    "How are you?",
    "I was in Hamburg by train for two days.",
    "Please fill in my travel expenses.",
    "There are three receipts.",
    "Thanks",
    "What is 2+2?",
    "We met with the board today.",
    "Write the minutes of the meeting with the board.",
    "Who decided what?",
    "Make it shorter.",
    "Can you read German?",
    "Translate this letter, please.",
    "It is from a supplier.",
    "Good.",
    "And the hotel?",
    "Add it to the travel expenses.",
    "Send it to Ann.",
    "When is the next meeting?",
    "Bye",
)
"""Messages of which some call for a skill and most for none."""
BASE = "You are the assistant of a small office."
"""The system prompt of every agent in the contract."""


def heading(skill: str) -> str:
    """The line with which the text of a skill begins, wherever it is placed."""
    return f"=== Skill Activated: {skill.replace('-', ' ').title()} ==="


def weaver_in(folder: Path, graph: SkillGraph | None = None) -> Weaver:
    """A Weaver over the contract's skills and a ledger file in the folder, as each new process opens it."""
    return skillweave.open(
        *SKILLS,
        ledger=FailingStore(SqliteStore(folder / "ledger.db")),
        settings=Settings(catalog=CatalogMode.ALWAYS),
        counter=WordCounter(),
        matchers=("explicit", "triggers"),
        graph=graph,
    )


def plain_weaver_in(
    folder: Path | None, skills: Sequence[Mapping[str, Any]], settings: Settings, matchers: Sequence[Matcher] = ()
) -> Weaver:
    """A Weaver over these skills and a ledger file in the folder, with the default matchers and the given ones.

    Without a folder its ledger is in memory.
    """
    return skillweave.open(
        *skills,
        ledger=FailingStore(MemoryStore() if folder is None else SqliteStore(folder / "ledger.db")),
        settings=settings,
        counter=WordCounter(),
        matchers=(*DEFAULT_MATCHERS, *matchers),
    )


def ledger_of(weaver: Weaver) -> FailingStore:
    """The ledger of such a Weaver, which can be made to fail."""
    store = weaver.ledger.store
    assert isinstance(store, FailingStore)
    return store


class Workshop:
    """The tools of the host, what they were called with, and what a test has one of them answer."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.answers: dict[str, str] = {}
        self.tools = (
            Tool("search", self._tool("search"), "Searches the ledger."),
            Tool("write", self._tool("write"), "Changes the ledger."),
            Tool("submit", self._tool("submit"), "Submits a filing."),
            Tool("broken", _broken, "Always fails."),
        )

    def _tool(self, name: str) -> Callable[[str], str]:
        def run(text: str) -> str:
            self.ran.append(f"{name}({text})")
            return self.answers.get(name, f"{name} did {text}")

        return run


def _broken(text: str) -> str:
    raise RuntimeError(f"the printer is on fire: {text}")


CONVERSATION = "office-1"


class Play:
    """One conversation with one agent; `restart` makes weaver and agent again over what was kept."""

    def __init__(self, contract: "HostContract", folder: Path) -> None:
        self._contract = contract
        self._folder = folder
        self._graph: SkillGraph | None = None
        self._library: tuple[Sequence[Mapping[str, Any]], Settings, Sequence[Matcher]] | None = None
        self.script = Script()
        self.workshop = Workshop()
        self.weaver, self.agent = self._opened()

    def restart(self) -> None:
        """Go on with the conversation as in a new process: nothing but files is left of the old one."""
        self.weaver, self.agent = self._opened()

    def begin_in(self, graph: SkillGraph) -> None:
        """Put the conversation into this skill graph; call it before anything is said."""
        self._graph = graph
        self.weaver, self.agent = self._opened()

    def begin_among(
        self, skills: Sequence[Mapping[str, Any]], settings: Settings, matchers: Sequence[Matcher] = ()
    ) -> None:
        """Replace the library by these skills, with more matchers; call it before anything is said."""
        self._library = (skills, settings, matchers)
        self.weaver, self.agent = self._opened()

    def _opened(self) -> tuple[Weaver, HostedAgent]:
        if self._library is None:
            weaver = weaver_in(self._folder, self._graph)
        else:
            weaver = plain_weaver_in(self._folder, *self._library)
        return weaver, self._contract.agent(weaver, self.script, self.workshop, self._folder)


class HostContract:
    """Inherit a contract, say the placement, and give `agent`."""

    placement: Placement
    keeps_texts = True
    """Whether the host's own history holds what is given in history placement."""

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        """An agent of the framework with the adapter, in conversation CONVERSATION.

        Its model is the script, its system prompt BASE, its tools are the workshop's and skillweave's own; what the
        host keeps of a conversation is in the folder.
        """
        raise NotImplementedError("a subclass gives the agent")

    @pytest.fixture
    def play(self, tmp_path: Path) -> Play:
        """A new conversation."""
        return Play(self, tmp_path)
