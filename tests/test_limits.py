from types import MappingProxyType

import pytest

from skillweave.errors import InvalidTurn
from skillweave.tools import ToolLimits

FULL = ToolLimits(
    ("Bash(git:*)", "read"),
    ("write",),
    MappingProxyType({"pay": ("release",)}),
    MappingProxyType({"Bash": "script"}),
    MappingProxyType({"submit": ("pre_filing",)}),
)


@pytest.mark.parametrize("limits", [FULL, ToolLimits(), ToolLimits(allowed=())])
def test_limits_come_back_from_their_json_form(limits: ToolLimits) -> None:
    assert ToolLimits.from_dict(limits.to_dict()) == limits


@pytest.mark.parametrize(
    "change",
    [
        {"allowed": "read"},
        {"allowed": [1]},
        {"forbidden": None},
        {"asks": []},
        {"asks": {"pay": "release"}},
        {"own_asks": None},
        {"own_asks": {"pay": "release"}},
        {"argument_names": {"Bash": 1}},
        {"unknown": 1},
    ],
)
def test_limits_that_cannot_be_read_are_refused_as_a_lost_bound_is_a_permission(change: dict[str, object]) -> None:
    with pytest.raises(InvalidTurn, match=r"hand on what to_dict\(\) gave"):
        ToolLimits.from_dict({**FULL.to_dict(), **change})


@pytest.mark.parametrize("data", [{}, [], None, {"allowed": None, "forbidden": []}])
def test_a_part_of_limits_is_refused(data: object) -> None:
    with pytest.raises(InvalidTurn):
        ToolLimits.from_dict(data)
