"""What was fitted to one's own queries goes before what comes with the library."""

from dataclasses import replace

import pytest

import skillweave
from skillweave.errors import InvalidData
from skillweave.select.own_fit import calibrated, calibration_of
from skillweave.selection import OwnFit, shipped_fit
from skillweave.sources import InCode
from tests.asking import index_of
from tests.skills import make_skill

OWN = OwnFit(2.0, 0.5, 0.9, 0.2, embedder="static-1")
SHIPPED = calibration_of(None)


def test_a_fit_counts_for_its_own_embedder_only() -> None:
    assert SHIPPED is not None
    assert calibrated(SHIPPED, "static-1", OWN, None, None).own is OWN
    assert calibrated(SHIPPED, None, OWN, None, None).own is None
    assert calibrated(SHIPPED, "other", OWN, None, None).give_at == SHIPPED.give_at


def test_stated_thresholds_go_before_fitted_ones() -> None:
    assert SHIPPED is not None
    fit = calibrated(SHIPPED, "static-1", OWN, 0.5, None)
    assert (fit.give_at, fit.offer_at) == (0.5, 0.2)


def test_a_fit_is_read_from_its_json_and_ignores_what_it_was_fitted_on() -> None:
    assert OwnFit.from_dict({**OWN.to_dict(), "fitted_on": "mine, dev"}) == OWN
    with pytest.raises(InvalidData, match="slope"):
        OwnFit.from_dict({"offset": 0})


def test_a_fit_says_by_itself_from_when_on_there_is_a_list() -> None:
    assert SHIPPED is not None
    own = replace(OWN, list_at=0.3)
    assert calibrated(SHIPPED, "static-1", own, None, None).list_at == 0.3
    assert calibrated(SHIPPED, "static-1", OWN, None, None).list_at == 0.0
    assert calibrated(SHIPPED, "static-1", own, None, 0.1).list_at == 0.0


@pytest.mark.parametrize("phrases", [(), ("zebra crossing",)])
def test_the_shipped_fit_changes_nothing(phrases: tuple[str, ...]) -> None:
    skills = index_of(*(make_skill(f"skill-{n}", description=f"Handles subject {n}.") for n in range(3)))
    if phrases:
        skills = index_of(replace(make_skill("zebra", description="Crosses."), phrases=phrases))
    shipped = shipped_fit(skills)
    known = calibration_of(None, phrases=bool(phrases))
    assert known is not None
    changed = calibrated(known, None, shipped, None, None)
    plain = calibrated(known, None, None, None, None)
    assert changed[2:] == plain[2:]
    assert shipped.probability(0.37) == pytest.approx(0.37)


async def test_decisions_are_kept_with_the_probability() -> None:
    skill = make_skill("hat-care", description="Cleans a felt hat and steams its brim.", instructions="Brush it.")
    weaver = skillweave.open(InCode(skill))
    await weaver.weave("how do I steam the brim of a hat", conversation="c1")
    (logged,) = await weaver.why("c1", "hat-care")
    assert logged.decision.probability is not None
    assert "probability" in logged.decision.to_dict()
