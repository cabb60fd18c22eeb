"""An extension of griffe, which reads the docstrings for the site."""

import sys
from pathlib import Path
from typing import Any

from griffe import Attribute, Class, Docstring, Extension, Object

sys.path.append(str(Path(__file__).parents[2]))  # the generator of the site loads this file from anywhere

from docs.tools.plain import plain


class PlainDocstrings(Extension):
    """Docstrings are shown without the sources of rules, an enum's with its values."""

    def on_object(self, *, obj: Object, **_: Any) -> None:  # noqa: ANN401 - griffe's own signature
        """Change each docstring when its object was read."""
        if obj.docstring is not None:
            obj.docstring.value = plain(obj.docstring.value)

    def on_class_members(self, *, cls: Class, **_: Any) -> None:  # noqa: ANN401
        """Name the values of an enum in its docstring: as members of their own they would take a page."""
        if not any(str(base).endswith("Enum") for base in cls.bases):
            return
        values = (f"`{one.value}`" for one in cls.members.values() if isinstance(one, Attribute) and one.value)
        text = plain(cls.docstring.value) if cls.docstring else ""
        cls.docstring = Docstring(f"{text}\n\nValues: {', '.join(values)}.", parent=cls)
