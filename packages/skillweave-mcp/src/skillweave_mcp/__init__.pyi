from .answers import Desk as Desk
from .answers import Visitor as Visitor

__all__: list[str]
