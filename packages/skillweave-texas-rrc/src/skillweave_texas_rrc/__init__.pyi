from .tools import calculators as calculators

__all__: list[str]
