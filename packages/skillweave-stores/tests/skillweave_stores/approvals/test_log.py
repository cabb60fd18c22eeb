"""The sealed log: each row that is changed, removed, added or put in another place shows, and so does a cut end."""

from collections.abc import Sequence
from dataclasses import fields, replace

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.skillweave_stores.approvals.books import problems

from skillweave.approvals.case import LogRow
from skillweave_stores.approvals.log import BEGINNING, LogCheck, LogHead, first_head, is_sealed, next_row, sealed

KEY = bytes(range(32))
TENANT = "acme"

texts = st.text(max_size=6) | st.sampled_from(("1:a", "1", "", "2:12", "\ud800", "\0"))
steps = st.tuples(texts, st.sampled_from(("created", "decided", "applied")), st.floats(allow_nan=False), texts)
few = st.lists(steps, max_size=6)
some = st.lists(steps, min_size=1, max_size=6)


def _log(given_steps: Sequence[tuple[str, str, float, str]]) -> tuple[list[LogRow], LogHead]:
    rows, head = [], first_head(KEY, TENANT)
    for approval, kind, at, document in given_steps:
        row, head = next_row(KEY, TENANT, head, approval=approval, kind=kind, at=at, document=document)
        rows.append(row)
    return rows, head


@given(few)
def test_a_log_that_nobody_touched_is_whole(made: list[tuple[str, str, float, str]]) -> None:
    rows, head = _log(made)
    assert problems(KEY, TENANT, rows, head) == ()
    assert [row.number for row in rows] == list(range(1, len(made) + 1))
    assert is_sealed(KEY, TENANT, head)


def test_a_tenant_without_a_log_is_whole() -> None:
    assert problems(KEY, TENANT, (), None) == ()


@given(some, st.data())
def test_a_field_that_is_changed_shows_with_the_number_of_its_row(
    made: list[tuple[str, str, float, str]], data: st.DataObject
) -> None:
    rows, head = _log(made)
    place = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from([field.name for field in fields(LogRow)]))
    kinds: dict[str, st.SearchStrategy[object]] = {"number": st.integers(), "at": st.floats(allow_nan=False)}
    value = data.draw(kinds.get(name, texts))
    assume(repr(value) != repr(getattr(rows[place], name)))
    rows[place] = replace(rows[place], **{name: value})  # type: ignore[arg-type]
    found = problems(KEY, TENANT, rows, head)
    assert any(f"row {place + 1} " in one for one in found)


@given(some, st.data())
def test_a_row_that_is_removed_shows(made: list[tuple[str, str, float, str]], data: st.DataObject) -> None:
    rows, head = _log(made)
    del rows[data.draw(st.integers(0, len(rows) - 1))]
    assert problems(KEY, TENANT, rows, head)


@given(some, st.data())
def test_a_row_that_is_removed_shows_also_where_the_later_ones_are_numbered_anew(
    made: list[tuple[str, str, float, str]], data: st.DataObject
) -> None:
    rows, head = _log(made)
    del rows[data.draw(st.integers(0, len(rows) - 1))]
    rows = [replace(row, number=number) for number, row in enumerate(rows, 1)]
    assert problems(KEY, TENANT, rows, head)
    assert problems(KEY, TENANT, rows, replace(head, number=len(rows)))


@given(some, st.integers(0, 5))
def test_an_end_that_is_cut_shows_unless_the_whole_log_is_put_back(
    made: list[tuple[str, str, float, str]], left: int
) -> None:
    rows, head = _log(made)
    assume(left < len(rows))
    kept = rows[:left]
    last = kept[-1].seal if kept else BEGINNING
    assert problems(KEY, TENANT, kept, head)
    assert problems(KEY, TENANT, kept, None) if kept else True
    assert problems(KEY, TENANT, kept, replace(head, number=left, last_seal=last))
    # What cannot be told from the earlier state, as the pages say.
    assert problems(KEY, TENANT, kept, _log(made[:left])[1]) == ()


@given(st.lists(steps, min_size=2, max_size=6), st.data(), st.booleans())
def test_rows_in_another_order_show(
    made: list[tuple[str, str, float, str]], data: st.DataObject, renumbered: bool
) -> None:
    rows, head = _log(made)
    shuffled = data.draw(st.permutations(rows))
    assume(shuffled != rows)
    if renumbered:
        shuffled = [replace(row, number=number) for number, row in enumerate(shuffled, 1)]
    assert problems(KEY, TENANT, shuffled, head)


@given(few, steps, st.data(), st.sampled_from(("copied seal", "other key", "other tenant")))
def test_a_row_that_is_added_shows(
    made: list[tuple[str, str, float, str]],
    step: tuple[str, str, float, str],
    data: st.DataObject,
    how: str,
) -> None:
    rows, head = _log(made)
    place = data.draw(st.integers(0, len(rows)))
    before = rows[place - 1].seal if place else BEGINNING
    forged = LogRow(place + 1, *step, seal=rows[0].seal if rows else BEGINNING)
    if how == "other key":
        forged = replace(forged, seal=sealed(KEY[::-1], TENANT, before, forged))
    if how == "other tenant":
        forged = replace(forged, seal=sealed(KEY, "other", before, forged))
    after = [replace(row, number=row.number + 1) for row in rows[place:]]
    for with_it in ([*rows[:place], forged, *rows[place:]], [*rows[:place], forged, *after]):
        assert problems(KEY, TENANT, with_it, head)
        assert problems(KEY, TENANT, with_it, replace(head, number=len(with_it), last_seal=with_it[-1].seal))


@given(some)
def test_a_log_of_another_tenant_or_under_another_key_does_not_fit(made: list[tuple[str, str, float, str]]) -> None:
    rows, head = _log(made)
    assert problems(KEY, "other", rows, head)
    assert problems(KEY[::-1], TENANT, rows, head)


@given(few, st.integers(-2, 9), texts)
def test_an_end_that_is_changed_shows(made: list[tuple[str, str, float, str]], number: int, text: str) -> None:
    rows, head = _log(made)
    for other in (
        replace(head, number=number),
        replace(head, last_seal=text),
        replace(head, seal=text),
    ):
        assert (problems(KEY, TENANT, rows, other) == ()) == (other == head)


@given(st.lists(texts, min_size=5, max_size=5), st.lists(texts, min_size=5, max_size=5))
def test_rows_that_differ_have_seals_that_differ(first: list[str], second: list[str]) -> None:
    assume(first != second)
    one, other = (
        sealed(KEY, tenant, before, LogRow(1, approval, kind, 1.0, document, ""))
        for tenant, before, approval, kind, document in (first, second)
    )
    assert one != other


def test_texts_that_join_to_the_same_are_not_sealed_alike() -> None:
    row = LogRow(1, "x", "created", 1.0, "", "")
    assert sealed(KEY, "ab", "c", row) != sealed(KEY, "a", "bc", row)


def test_a_key_is_not_shown_by_what_checks_a_log() -> None:
    assert KEY.hex() not in repr(LogCheck(KEY, TENANT))
    assert "\\x01" not in repr(LogCheck(KEY, TENANT))
