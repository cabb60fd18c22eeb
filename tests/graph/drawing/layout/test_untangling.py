"""Few arrows cross."""

from random import Random

import pytest

from skillweave.graph.drawing import MOST_SWEEPS, Room, Rows, Tie, ranks_of, rows_of, untangle

BOX = Room.around(80, 40)
NO_LABEL = Room(0, 0, 0)


def untangled(boxes: int, *ties: tuple[int, int], sweeps: int = MOST_SWEEPS) -> Rows:
    given = [Tie(*tie, NO_LABEL) for tie in ties]
    rows = rows_of([BOX] * boxes, given, ranks_of(boxes, given, 1))
    untangle(rows, sweeps)
    return rows


def crossings(rows: Rows) -> int:
    place = {number: position for row in rows.rows for position, number in enumerate(row)}
    joined = [
        (rows.row_of[upper], place[upper], place[lower]) for upper, belows in enumerate(rows.below) for lower in belows
    ]
    return sum(one[0] == other[0] and one[1] < other[1] and one[2] > other[2] for one in joined for other in joined)


def test_arrows_that_need_not_cross_do_not() -> None:
    ties = [(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4), (4, 7), (5, 8), (6, 9)]
    assert crossings(untangled(10, *ties)) == 0


def test_the_two_branches_of_a_decision_stand_in_the_order_of_the_ties() -> None:
    rows = untangled(8, (0, 1), (1, 3), (1, 2), (2, 5), (2, 4), (3, 6), (3, 7))
    assert [row for row in rows.rows if all(number < 8 for number in row)] == [[0], [1], [3, 2], [6, 7, 5, 4]]


@pytest.mark.parametrize(("left", "right"), [(3, 3), (2, 5)])
def test_arrows_between_all_of_two_rows_cross_as_often_as_they_must(left: int, right: int) -> None:
    uppers, lowers = range(1, left + 1), range(left + 1, left + right + 1)
    ties = [(0, upper) for upper in uppers] + [(upper, lower) for upper in uppers for lower in lowers]
    must = left * (left - 1) // 2 * (right * (right - 1) // 2)
    assert crossings(untangled(left + right + 1, *ties)) == must


def random_ties(seed: int) -> list[tuple[int, int]]:
    chance = Random(seed)
    pairs = [(chance.randrange(20), chance.randrange(20)) for _ in range(30)]
    return [(0, 1), (0, 2), *(pair for pair in pairs if pair[0] != pair[1])]


def test_no_order_has_more_crossings_than_the_first_one() -> None:
    first = [crossings(untangled(20, *random_ties(seed), sweeps=0)) for seed in range(40)]
    found = [crossings(untangled(20, *random_ties(seed))) for seed in range(40)]
    assert all(fewer <= more for fewer, more in zip(found, first, strict=True))
    assert sum(found) < 0.75 * sum(first)


def test_neighbours_change_places_where_their_means_are_right_and_their_arrows_cross() -> None:
    assert crossings(untangled(10, (0, 1), (0, 2), (0, 7), (1, 3), (4, 5), (4, 7), (5, 9))) == 0


def test_a_tree_has_no_crossings_from_the_first_order_on() -> None:
    names = [0, *Random(3).sample(range(1, 31), 30)]
    ties = [(names[(place - 1) // 2], names[place]) for place in range(1, 31)]
    assert crossings(untangled(31, *ties, sweeps=0)) == 0


def test_everything_stays_in_its_row() -> None:
    ties = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 2), (4, 1), (1, 4)]
    rows = untangled(5, *ties)
    assert sorted(number for row in rows.rows for number in row) == list(range(len(rows.rooms)))
    assert all(rows.row_of[number] == place for place, row in enumerate(rows.rows) for number in row)
