"""The contract of a book of approvals finds mistakes."""

from pathlib import Path

import pytest
from tests.skillweave_stores.approvals.books import MISTAKES, DictBook

from skillweave_testing import ManualClock
from tests.contract_failures import contract_failures
from tests.contracts_of_ports.approvals import ApprovalBookContract

BOOKS = Path(__file__).with_name("books.py")


class TestDictBook(ApprovalBookContract):
    @pytest.fixture
    def book(self, clock: ManualClock) -> DictBook:
        return DictBook(clock)


@pytest.fixture(scope="module")
def failures() -> str:
    """What pytest says of the contract for all books with a mistake."""
    return contract_failures(BOOKS)


@pytest.mark.parametrize("mistake", [mistake.__name__ for mistake in MISTAKES])
@pytest.mark.soak
def test_a_book_with_a_mistake_fails_the_contract(failures: str, mistake: str) -> None:
    assert f"::Test{mistake}::" in failures
