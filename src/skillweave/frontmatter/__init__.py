"""The only reader and writer of `---` fences and of YAML (spec 1.2)."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.frontmatter.codes import MAX_FILE_BYTES, TEXT_CODES, Code
    from skillweave.frontmatter.documents import (
        Document,
        FrontMatter,
        quote_value,
        read_front_matter,
        read_json,
        read_yaml,
        tidy_body,
        write_front_matter,
    )
    from skillweave.frontmatter.yaml_text import (
        FRONT_MATTER_LIMITS,
        PACK_LIMITS,
        Keys,
        Limits,
        Plain,
        Tree,
        resolved,
        write_yaml,
    )

__all__ = [
    "FRONT_MATTER_LIMITS",
    "MAX_FILE_BYTES",
    "PACK_LIMITS",
    "TEXT_CODES",
    "Code",
    "Document",
    "FrontMatter",
    "Keys",
    "Limits",
    "Plain",
    "Tree",
    "quote_value",
    "read_front_matter",
    "read_json",
    "read_yaml",
    "resolved",
    "tidy_body",
    "write_front_matter",
    "write_yaml",
]

__getattr__ = door(
    __name__,
    """
codes: MAX_FILE_BYTES TEXT_CODES Code
documents: Document FrontMatter quote_value read_front_matter read_json read_yaml tidy_body
    write_front_matter
yaml_text: FRONT_MATTER_LIMITS PACK_LIMITS Keys Limits Plain Refused Tree parse resolved write_yaml
""",
)
