from .answers import Answer as Answer
from .answers import Desk as Desk
from .answers import Visitor as Visitor
from .entries import Served as Served
from .entries import Shelf as Shelf
from .stock import Stock as Stock

__all__: list[str]
