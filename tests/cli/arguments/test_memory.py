import pytest
import typer

from skillweave.cli.arguments.turn import memory_of


def test_pairs_are_split_at_the_first_equals_sign() -> None:
    assert memory_of(["a=b=c", "d="]) == {"a": "b=c", "d": ""}


def test_the_last_value_of_a_key_counts() -> None:
    assert memory_of(["a=1", "a=2"]) == {"a": "2"}


def test_no_pairs_are_an_empty_memory() -> None:
    assert memory_of(None) == {}


@pytest.mark.parametrize("pair", ["entity", "=value", ""])
def test_what_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no KEY=VALUE"):
        memory_of([pair])
