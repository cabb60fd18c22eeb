from skillweave.select import Fit, Ranked, clear, strength

FIT = Fit(floor=0.0, margin=0.5, scarcity=1.0, together=0.8, gain=0.2)


def ranked(fused: float, coverage: float, words: str = "a b c d", weight: float = 4.0) -> Ranked:
    shared = tuple(words.split())
    return Ranked(0, fused, 0.5, coverage, shared, (coverage / len(shared),) * len(shared), weight)


def test_strength_is_the_coverage_less_what_few_words_cost() -> None:
    assert strength(ranked(1.0, 0.75, weight=4.0), FIT) == 0.5
    assert strength(ranked(1.0, 0.75, weight=2.0), FIT) == 0.25


def test_a_strong_first_far_ahead_is_clear() -> None:
    assert clear([ranked(1.0, 0.7), ranked(0.2, 0.1)], FIT) == 1


def test_a_strong_first_alone_is_clear() -> None:
    assert clear([ranked(1.0, 0.7)], FIT) == 1


def test_a_weak_first_is_not_clear() -> None:
    assert clear([ranked(1.0, 0.2), ranked(0.1, 0.1)], FIT) == 0


def test_a_close_second_makes_the_first_unclear() -> None:
    assert clear([ranked(1.0, 0.7), ranked(0.95, 0.65)], FIT) == 0


def test_two_that_answer_different_parts_of_a_message_are_clear_together() -> None:
    pair = [ranked(1.0, 0.5, "a b c d"), ranked(0.95, 0.45, "e f g h"), ranked(0.2, 0.1)]
    assert clear(pair, FIT) == 2


def test_two_of_which_one_is_weak_are_not_clear_together() -> None:
    pair = [ranked(1.0, 0.5, "a b c d"), ranked(0.95, 0.3, "e f g h"), ranked(0.2, 0.1)]
    assert clear(pair, FIT) == 0


def test_nothing_ranked_is_nothing_clear() -> None:
    assert clear([], FIT) == 0
