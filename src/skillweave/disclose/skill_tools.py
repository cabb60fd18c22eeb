"""Whether the model can call skillweave's own tools, which changes what it is shown and told."""

from enum import StrEnum


class SkillTools(StrEnum):
    """With the tools, long instructions can be an outline to be read in sections, and the catalog names the tools."""

    OFFERED = "offered"
    ABSENT = "absent"
