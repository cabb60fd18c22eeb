from .filling import Seeded as Seeded
from .filling import SeededAgents as SeededAgents
from .filling import seed as seed

__all__: list[str]
