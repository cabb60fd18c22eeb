"""Entries of other servers: what a host takes of them, and whether a file is what its entry says; no I/O."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import unquote

from skillweave.errors import InvalidValue
from skillweave.manifest import Manifest, ManifestFile, sha256_of
from skillweave.skills import is_skill_id, name_fault
from skillweave.values import Json, read_front_matter, resolved
from skillweave_mcp.entries import SKILL_FILE

MOST_FILES, MOST_BYTES = 512, 16 * 1024 * 1024
"""What the extension has every host take of one skill, and what ours takes at most."""
MOST_FRONT_MATTER = 64 * 1024
_LONGEST_URI = 2_000
_DIGEST = re.compile("sha256:([0-9a-f]{64})")
_STRANGE = re.compile("[\x00-\x20\x7f\\\\]")
_SUFFIX = f"/{SKILL_FILE}"


class Unfit(Exception):
    """An entry that no host may load; the text says which rule it breaks."""


@dataclass(frozen=True, slots=True)
class Held:
    """A skill as a server described it: known by the label that we gave the server, and the URI of its SKILL.md.

    `uris` are those of its files by their path, as the server wrote them.
    """

    label: str
    uri: str
    frontmatter: Mapping[str, Json] = field(hash=False)
    manifest: Manifest
    uris: Mapping[str, str] = field(hash=False)

    @property
    def name(self) -> str:
        """The name in its front matter, which other skills may have too."""
        return str(self.frontmatter["name"])

    @property
    def identity(self) -> str:
        """Both halves of what it is known by, on one line."""
        return f"{self.label} {self.uri}"


def held_entry(label: str, entry: object) -> Held:
    """Returns what an answer says about one skill. Raises Unfit."""
    if not isinstance(entry, Mapping):
        raise Unfit("an entry is no object")
    uri = entry.get("uri")
    if not isinstance(uri, str) or not uri.endswith(_SUFFIX) or not _is_plain(uri):
        raise Unfit(f"{str(uri)[:100]!r} is no URI of a {SKILL_FILE}")
    front = entry.get("frontmatter")
    if not isinstance(front, Mapping) or len(json.dumps(front)) > MOST_FRONT_MATTER:
        raise Unfit(f"{uri}: its front matter is no object of at most 64 KiB")
    name, description = front.get("name"), front.get("description")
    if not isinstance(name, str) or not isinstance(description, str) or not description.strip():
        raise Unfit(f"{uri}: its front matter lacks `name` or `description`")
    fault = name_fault(name)
    if fault is not None:
        raise Unfit(f"{uri}: its name {fault}")
    if unquote(uri.removesuffix(_SUFFIX).rpartition("/")[2]) != name:
        raise Unfit(f"{uri}: its folder is not called like the skill, {name!r}")
    listed = _files(uri, uri.removesuffix(_SUFFIX), entry.get("resources"))
    manifest = _manifest(uri, listed)
    kept = cast("Mapping[str, Json]", dict(front))
    return Held(label, uri, kept, manifest, {file.path: address for file, address in listed})


def _files(uri: str, root: str, files: object) -> list[tuple[ManifestFile, str]]:
    if files == "dynamic":
        raise Unfit(f"{uri}: its files are `dynamic`, so that no approval can be bound to them")
    if not isinstance(files, Sequence) or isinstance(files, str):
        raise Unfit(f"{uri}: `resources` is neither a list nor `dynamic`")
    if len(files) > MOST_FILES:
        raise Unfit(f"{uri}: it lists {len(files):,} files; a skill has at most {MOST_FILES}")
    return [_file(uri, root, one) for one in files]


def _manifest(uri: str, listed: Sequence[tuple[ManifestFile, str]]) -> Manifest:
    try:
        manifest = Manifest(tuple(file for file, _ in listed))
    except InvalidValue as error:
        raise Unfit(f"{uri}: {error}") from None
    if manifest.file(SKILL_FILE) is None:
        raise Unfit(f"{uri}: `resources` does not list its {SKILL_FILE}")
    if manifest.size > MOST_BYTES:
        raise Unfit(f"{uri}: its files have {manifest.size:,} bytes; a skill has at most 16 MiB")
    return manifest


def _file(uri: str, root: str, one: object) -> tuple[ManifestFile, str]:
    address = one.get("uri") if isinstance(one, Mapping) else None
    if not isinstance(one, Mapping) or not isinstance(address, str) or not _is_plain(address):
        raise Unfit(f"{uri}: it lists a file without a plain URI")
    path = unquote(address.removeprefix(f"{root}/"))
    if not address.startswith(f"{root}/") or not _is_inside(path):
        raise Unfit(f"{uri}: it lists {address[:100]!r}, which is no file in its folder")
    digest, size = _DIGEST.fullmatch(str(one.get("digest"))), one.get("size")
    if digest is None or type(size) is not int or size < 0:
        raise Unfit(f"{uri}: {path[:100]!r} has no digest as sha256 in lowercase hex, or no size")
    return ManifestFile(path, digest[1], size), address


def _is_plain(uri: str) -> bool:
    return len(uri) <= _LONGEST_URI and "://" in uri and _STRANGE.search(uri) is None and not re.search("[?#]", uri)


def _is_inside(path: str) -> bool:
    """Whether a path stays in the folder, whatever it is put below."""
    return _STRANGE.search(path.replace(" ", "_")) is None and {"", ".", ".."}.isdisjoint(path.split("/"))


def mismatch(held: Held, path: str, data: bytes) -> str | None:
    """Returns why the bytes are not the file that the entry describes, None where they are.

    Of SKILL.md the front matter is compared too, field by field.
    """
    file = held.manifest.file(path)
    if file is None:
        return "the entry that is held does not list it"
    if len(data) != file.size:
        return f"it has {len(data):,} bytes, and its entry says {file.size:,}"
    if sha256_of(data) != file.sha256:
        return "its digest is not the one in its entry"
    if path != SKILL_FILE:
        return None
    front = read_front_matter(data, path=held.uri)
    found = resolved(front.fields) if front.fields is not None else {}
    if not isinstance(found, Mapping):
        return "it has no front matter"
    keys = sorted({*map(str, found), *held.frontmatter})
    other = next(
        (key for key in keys if not _equal(found.get(key, _MISSING), held.frontmatter.get(key, _MISSING))), None
    )
    return None if other is None else f"its front matter says something else under `{other[:60]}` than its entry"


_MISSING = object()


def _equal(one: object, other: object) -> bool:
    """Whether two JSON values say the same; true is not 1, and 1.0 is."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def ids_of(held: Sequence[Held]) -> dict[str, Held]:
    """Returns the skills by the ids that they have here: label and name; those of one name by their whole path too.

    No id is that of a skill from elsewhere, so that none takes another one's place.
    """
    found: dict[str, Held] = {}
    names = [one.name for one in held]
    for one in sorted(held, key=lambda one: one.uri):
        path = re.sub("[^A-Za-z0-9_-]+", "-", one.uri.partition("://")[2].removesuffix(_SUFFIX))
        wanted = f"{one.label}__{one.name if names.count(one.name) == 1 else path}"
        if not is_skill_id(wanted) or wanted in found:
            wanted = f"{one.label}__{sha256_of(one.uri.encode())[:16]}"
        found[wanted] = one
    return found


def label_of(address: str) -> str:
    """Returns the label of a server: what we call it, from its address, whatever it says of itself; one for each."""
    short = re.sub("[^A-Za-z0-9]+", "-", address).strip("-")[:22].strip("-")
    return f"{short or 'server'}-{sha256_of(address.encode())[:8]}"
