"""The only reader and writer of `---` fences and of YAML (spec 1.2)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
codes: MAX_FILE_BYTES TEXT_CODES Code
documents: Document FrontMatter quote_value read_front_matter read_json read_yaml tidy_body
    write_front_matter
yaml_text: FRONT_MATTER_LIMITS PACK_LIMITS Keys Limits Plain Refused Tree parse resolved write_yaml
""",
)
