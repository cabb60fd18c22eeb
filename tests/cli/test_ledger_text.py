import pytest

from skillweave.cli.ledger import engaged_text
from skillweave.cli.output.page import Page
from skillweave.ledger import Engaged


@pytest.mark.parametrize(
    ("idle", "words"),
    [(0, "matched by the latest message"), (1, "not matched for 1 message"), (2, "not matched for 2 messages")],
)
def test_how_long_a_skill_was_not_matched_is_counted(idle: int, words: str) -> None:
    entry = Engaged(skill_id="tea", by="triggers", since="t1", idle=idle)
    assert engaged_text(entry, Page()) == f"engaged          tea, by triggers; {words}"
