from enum import StrEnum
from typing import Any, get_args

import pytest

from skillweave import CatalogMode, Placement, Role, Settings
from skillweave.cli import options


def choices(option: Any) -> set[str]:
    return set(get_args(get_args(option)[0]))


@pytest.mark.parametrize(
    ("option", "enum"), [(options.Catalog, CatalogMode), (options.Where, Placement)], ids=["catalog", "placement"]
)
def test_the_choices_are_those_of_the_engine(option: Any, enum: type[StrEnum]) -> None:
    assert choices(option) == {member.value for member in enum}


def test_the_speakers_are_roles() -> None:
    assert choices(options.Speaker) == {Role.USER.value, Role.ASSISTANT.value}


def test_the_defaults_are_those_of_the_engine() -> None:
    from inspect import signature

    from skillweave.cli.command import spread
    from skillweave.cli.weave import weave

    defaults = {name: parameter.default for name, parameter in signature(spread(weave)).parameters.items()}
    settings = Settings()
    assert defaults["budget"] == settings.budget.total
    assert defaults["max_skills"] == settings.max_skills
    assert defaults["catalog"] == settings.catalog.value
