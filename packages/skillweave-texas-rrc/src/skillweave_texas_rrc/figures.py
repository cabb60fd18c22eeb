"""The figures of the calculators of gas and oil (`factors.yaml`), and the components that natural gas consists of."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from skillweave.values import Portable, read, read_yaml, resolved
from skillweave_texas_rrc.thresholds import Threshold, thresholds

FILE = "factors.yaml"


@dataclass(frozen=True, slots=True)
class Component(Portable):
    """A component of natural gas: its molar mass in lb per lb-mol, its gross heat in Btu/scf, its carbon atoms."""

    molar_mass: float
    gross_btu: float
    carbons: float


def factor(name: str, given: float | None = None) -> Threshold:
    """A figure of `factors.yaml`, with the caller's value where one is given; raises KeyError for an unknown name."""
    return thresholds(FILE)[name].overridden(given)


@cache
def components() -> Mapping[str, Component]:
    """The components with constants of their own, by name; C6+, for which they are assumed, is not among them.

    Raises InvalidData with the place for a file that was broken.
    """
    document = read_yaml(files(__package__).joinpath(FILE).read_text(encoding="utf-8"), path=FILE)
    return read(resolved(document.data or {}), _Components).components


@dataclass(frozen=True, slots=True)
class _Components(Portable):
    components: Mapping[str, Component]
