"""What the skills extension says about skills: entries, their URIs, folders and pages; plain values, no I/O."""

import base64
import binascii
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar
from urllib.parse import quote, unquote

from skillweave import Diagnostic, Severity, Skill
from skillweave.manifest import Manifest
from skillweave.registry import media_type_of
from skillweave.skills import name_fault
from skillweave.values import EMPTY, FrozenJson, Json, Location, freeze_mapping, read_front_matter, resolved, thaw

EXTENSION = "io.modelcontextprotocol/skills"
SCHEME = "skill://"
SKILL_FILE = "SKILL.md"
FOLDER_TYPE = "inode/directory"
PAGE = 2_000
"""What a page weighs at most: for entries, their files and 2 for the front matter, some 300 kB together."""
_UNSURE = ("frontmatter-repaired", "duplicate-key")
"""Findings after which no two readers need agree on what the front matter says."""
_SAFE = "-._~!$&'()*+,;=:@"
_LONGEST_CURSOR = 1_200

T = TypeVar("T")


@dataclass(frozen=True)
class Served:
    """A skill as it is served: its folder's URI, its front matter as the author wrote it, and all of its files."""

    skill: Skill
    root: str
    frontmatter: Mapping[str, FrozenJson] = field(hash=False)
    manifest: Manifest

    @property
    def uri(self) -> str:
        """The URI of its SKILL.md, by which it is known."""
        return self.uri_of(SKILL_FILE)

    @property
    def name(self) -> str:
        """The name in its front matter."""
        return str(self.frontmatter["name"])

    @property
    def description(self) -> str:
        """The description in its front matter."""
        return str(self.frontmatter["description"])

    def uri_of(self, path: str) -> str:
        """Returns the URI of a file or folder of the skill; of the skill's own folder for the empty path."""
        return f"{self.root}/{quote(path, safe=_SAFE + '/')}" if path else self.root

    @cached_property
    def entry(self) -> Json:
        """The entry that `skills/list` and `skills/get` answer with."""
        files: list[Json] = [
            {"uri": self.uri_of(one.path), "digest": f"sha256:{one.sha256}", "size": one.size}
            for one in self.manifest.files
        ]
        return {"uri": self.uri, "frontmatter": thaw(self.frontmatter), "resources": files}


@dataclass(frozen=True, slots=True)
class Shelf:
    """All skills that are served, by the URI of their folder, and why others are not."""

    served: Mapping[str, Served] = field(default_factory=dict, hash=False)
    findings: tuple[Diagnostic, ...] = ()

    def locate(self, uri: str) -> tuple[Served, str] | None:
        """Returns the skill that a URI is in and the path in its folder, None where no skill is; files may be unknown.

        The first one or two segments name the skill: of two skills none stands in the other's folder.
        """
        if not uri.startswith(SCHEME) or uri.endswith("/"):
            return None
        parts = uri[len(SCHEME) :].split("/")
        for depth in (2, 1):
            found = self.served.get(SCHEME + "/".join(parts[:depth]))
            if found is not None:
                return found, unquote("/".join(parts[depth:]))
        return None


def serve(skill: Skill, data: bytes, manifest: Manifest) -> Served | Diagnostic:
    """Returns the skill with these bytes as its SKILL.md as it is served, or why the open format does not allow it."""
    place = skill.origin.location if skill.origin else skill.id
    front = read_front_matter(data, path=place)
    frontmatter = resolved(front.fields) if front.fields is not None else None
    if not isinstance(frontmatter, Mapping):
        return _not_served(skill, place, "it does not begin with front matter", "add it")
    if any(one.code in _UNSURE for one in front.diagnostics):
        return _not_served(
            skill, place, "other readers of YAML refuse its front matter", "correct it, or `check --fix`"
        )
    name, description = frontmatter.get("name"), frontmatter.get("description")
    if not isinstance(name, str) or not isinstance(description, str) or not description.strip():
        return _not_served(skill, place, "its front matter lacks `name` or `description`", "add both, as texts")
    fault = name_fault(name)
    if fault is not None:
        return _not_served(skill, place, f"its name {name[:80]!r} {fault}", "write lowercase letters, digits, hyphens")
    if manifest.file(SKILL_FILE) is None:
        return _not_served(skill, place, "its file is not called SKILL.md", "rename it")
    segments = (name,) if skill.id == name else (skill.id, name)
    return Served(skill, SCHEME + "/".join(quote(one, safe=_SAFE) for one in segments), _json(frontmatter), manifest)


def shelve(found: Sequence[Served | Diagnostic]) -> Shelf:
    """Returns the skills in the order of their URIs, beside the findings about those that are not served."""
    served = sorted((one for one in found if isinstance(one, Served)), key=lambda one: one.root)
    return Shelf({one.root: one for one in served}, tuple(one for one in found if isinstance(one, Diagnostic)))


@dataclass(frozen=True, slots=True)
class Child:
    """One thing in a folder: its path in the skill, and its size in bytes, None for a folder."""

    path: str
    size: int | None = None

    @property
    def name(self) -> str:
        """Its name in the folder."""
        return posixpath.basename(self.path)

    @property
    def media_type(self) -> str:
        """Its media type, by its suffix."""
        return FOLDER_TYPE if self.size is None else media_type_of(self.path)


def children_of(served: Served, path: str) -> tuple[Child, ...] | None:
    """Returns what stands directly in a folder of the skill, sorted by path; None where there is no such folder."""
    above = f"{path}/" if path else ""
    inside = [one for one in served.manifest.files if one.path.startswith(above)]
    if not inside or path.endswith("/"):
        return None
    found: dict[str, Child] = {}
    for one in inside:
        name, deeper, _ = one.path[len(above) :].partition("/")
        found.setdefault(name, Child(above + name, None if deeper else one.size))
    return tuple(sorted(found.values(), key=lambda child: child.path))


class InvalidCursor(ValueError):
    """A cursor that no answer of ours had."""


def page_of(
    items: Mapping[str, T], cursor: str | None, weight: Callable[[T], int] = lambda _: 4
) -> tuple[list[T], str | None]:
    """Returns the items, sorted by key, that come after the cursor, and the next cursor, None at the end.

    A cursor names the last key of the page before, so that it goes on at the right place after a change too. Raises
    InvalidCursor.
    """
    after = "" if cursor is None else _key_in(cursor)
    page: list[T] = []
    left, last = PAGE, after
    for key, item in items.items():
        if key <= after:
            continue
        left -= weight(item)
        if page and left < 0:
            return page, base64.urlsafe_b64encode(last.encode()).decode()
        page.append(item)
        last = key
    return page, None


def _key_in(cursor: str) -> str:
    try:
        if len(cursor) > _LONGEST_CURSOR:
            raise InvalidCursor("the cursor is longer than any that was handed out; begin again without one")
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        raise InvalidCursor(f"the cursor is none that was handed out ({error}); begin again without one") from None


def _json(frontmatter: Mapping[object, object]) -> Mapping[str, FrozenJson]:
    return freeze_mapping({str(key): value for key, value in frontmatter.items()}) if frontmatter else EMPTY  # type: ignore[misc]


def _not_served(skill: Skill, place: str, why: str, fix: str) -> Diagnostic:
    message = f"skill {skill.id!r} is not served as a skill over MCP: {why}"
    return Diagnostic("mcp-not-served", Severity.WARNING, message, fix, skill.id, Location(place))
