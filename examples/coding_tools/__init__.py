"""The tools that the coding pair works with, and the plain `write` and `edit` that it forbids.

Neutral of any framework: each tool is a name, a description, a JSON Schema and a function from texts to a text.

This is no sandbox. `opencode-executor` runs the code that a model wrote with all rights of this process: it can read
what you can read and reach what you can reach. Limits of time and output and confined paths keep mistakes small, they
stop nobody who means harm. Run it in a container, or as a user that may do nothing else.
"""

from .executor import Executor
from .plain import edit, write
from .running import Limits
from .scratch import Refused, Scratch
from .specifications import Specifications
from .tool import CodingTool, coding_tools

__all__ = ["CodingTool", "Executor", "Limits", "Refused", "Scratch", "Specifications", "coding_tools", "edit", "write"]
