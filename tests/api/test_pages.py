from skillweave.api import ConversationPage, page


def test_a_page_with_more_behind_it_says_where_the_next_one_begins() -> None:
    assert page(ConversationPage, ("a", "b", "c"), 2, str) == ConversationPage(("a", "b"), "b")


def test_the_last_page_has_no_next_one_also_when_it_is_full() -> None:
    assert page(ConversationPage, ("a", "b"), 2, str) == ConversationPage(("a", "b"), None)


def test_a_page_of_nothing_is_the_last_one() -> None:
    assert page(ConversationPage, (), 2, str) == ConversationPage((), None)
