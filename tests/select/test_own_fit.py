"""What was fitted to one's own queries goes before what comes with the library."""

import pytest

from skillweave.errors import InvalidData
from skillweave.select.own_fit import calibrated, calibration_of
from skillweave.selection import OwnFit

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
