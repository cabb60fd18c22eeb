"""Whole numbers, refused in the words of this program."""

from typer import BadParameter


def whole_number(given: str | int) -> int:
    """The number, of at least 0; raises BadParameter for anything else."""
    try:
        number = int(given)
    except ValueError:
        number = -1
    if number < 0:
        raise BadParameter(f"{str(given)[:40]!r} is not a whole number of at least 0")
    return number
