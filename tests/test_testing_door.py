import skillweave_testing


def test_every_name_that_the_testing_kit_exports_is_there() -> None:
    assert [name for name in skillweave_testing.__all__ if getattr(skillweave_testing, name).__name__ != name] == []
