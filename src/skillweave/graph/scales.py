"""Scales: the order of words that guards may compare, by the field that holds them (spec 3.1)."""

from collections.abc import Mapping
from typing import TypeAlias

Scales: TypeAlias = Mapping[str, tuple[str, ...]]
"""By field its words, the lowest first."""
