from .packs import pack as pack
from .packs import rule37_filing as rule37_filing
from .tools import calculators as calculators

__all__: list[str]
