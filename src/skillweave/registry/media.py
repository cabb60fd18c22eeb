"""The media type that a file name promises, the same on every machine."""

import posixpath
from functools import cache, lru_cache

UNKNOWN = "application/octet-stream"
_ADDED = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".go": "text/plain",
    ".js": "text/javascript",
    ".jsonl": "application/jsonl",
    ".jsx": "text/javascript",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".ps1": "text/plain",
    ".rb": "text/plain",
    ".rs": "text/plain",
    ".sql": "application/sql",
    ".toml": "application/toml",
    ".ts": "text/plain",
    ".tsx": "text/plain",
    ".webp": "image/webp",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
"""What skills bring along and the standard table lacks, or names differently from one Python to the next."""
_TEXT = frozenset(
    {f"application/{kind}" for kind in ("json", "jsonl", "sql", "toml", "yaml", "xml", "x-sh", "x-csh", "javascript")}
)


def media_type_of(name: str) -> str:
    """The media type by the suffix; the machine's own tables are not asked. Unknown: application/octet-stream."""
    return _of_suffix(posixpath.splitext(name)[1].lower())


def is_text(media_type: str) -> bool:
    """Whether documents of this type are meant to be read as text."""
    return media_type.startswith("text/") or media_type.endswith(("+xml", "+json")) or media_type in _TEXT


@lru_cache(maxsize=512)
def _of_suffix(suffix: str) -> str:
    return _ADDED.get(suffix) or _built_in().get(suffix, UNKNOWN)


@cache
def _built_in() -> dict[str, str]:
    from mimetypes import MimeTypes

    return MimeTypes().types_map[1]
