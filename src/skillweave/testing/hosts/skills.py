"""The skills and tools that the contract of adapters is played with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skillweave.factory import open_weaver
from skillweave.graph import SkillGraph
from skillweave.settings import CatalogMode, Settings
from skillweave.stores.sqlite import SqliteStore
from skillweave.testing.fakes import FailingStore, WordCounter
from skillweave.testing.hosts.agent import Tool
from skillweave.weaver import OnStoreFailure, Weaver

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
BASE = "You are the assistant of a small office."
"""The system prompt of every agent in the contract."""


def heading(skill: str) -> str:
    """The line with which the text of a skill begins, wherever it is placed."""
    return f"=== Skill Activated: {skill.replace('-', ' ').title()} ==="


def weaver_in(
    folder: Path, on_store_failure: OnStoreFailure = OnStoreFailure.FAIL_OPEN, graph: SkillGraph | None = None
) -> Weaver:
    """A Weaver over the contract's skills and a ledger file in the folder, as each new process opens it."""
    return open_weaver(
        *SKILLS,
        ledger=FailingStore(SqliteStore(folder / "ledger.db")),
        settings=Settings(catalog=CatalogMode.ALWAYS),
        counter=WordCounter(),
        matchers=("explicit", "triggers"),
        on_store_failure=on_store_failure,
        graph=graph,
    )


def ledger_of(weaver: Weaver) -> FailingStore:
    """The ledger of such a Weaver, which can be made to fail."""
    store = weaver.store
    assert isinstance(store, FailingStore)
    return store


class Workshop:
    """The tools of the host, and what they were called with."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.tools = (
            Tool("search", self._tool("search"), "Searches the ledger."),
            Tool("write", self._tool("write"), "Changes the ledger."),
            Tool("submit", self._tool("submit"), "Submits a filing."),
            Tool("broken", _broken, "Always fails."),
        )

    def _tool(self, name: str) -> Callable[[str], str]:
        def run(text: str) -> str:
            self.ran.append(f"{name}({text})")
            return f"{name} did {text}"

        return run


def _broken(text: str) -> str:
    raise RuntimeError(f"the printer is on fire: {text}")
