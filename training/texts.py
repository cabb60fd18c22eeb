"""The texts that the weights are trained on: lines of public skills, and messages in several languages."""

import gettext
import gzip
import io
import json
import os
import random
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fetch import wheel, wheels

LANGUAGES = ("ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
DRAWN = {
    "phrase": 1_800,
    "example": 1_000,
    "quote": 2_000,
    "use": 4_000,
    "sentence": 3_500,
    "heading": 2_000,
    "line": 5_000,
}
"""How many lines of each kind the teacher sees."""
_QUOTED = re.compile(r'["“]([^"“”\n]{8,120})["”]')
_HEADING = re.compile(r"^#+\s*(.*)$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s*)?(.*)$")
_USE = re.compile(
    r"when to|use (this|when|case)|trigger|activat|example|user (says|asks)|overview|purpose|scenario", re.IGNORECASE
)
_NEVER = re.compile(r"not (to )?use|when not|do not|don.t|avoid|instead", re.IGNORECASE)
_FILLER = re.compile(r"<[^>]+>|%\(?\w*\)?[sd]|\{[^}]*\}|&\w+;|%\d")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a public skill and what kind it is."""

    text: str
    kind: str


def documents_and_lines() -> tuple[list[str], list[Line]]:
    """Name with description of every skill that is not held out, and its lines."""
    selection = Path(os.environ["SKILLWEAVE_SELECTION"])
    with gzip.open(selection / "corpus.jsonl.gz", "rt") as file:
        corpus = [json.loads(row) for row in file]
    queries = [row for name in ("dev", "test") for row in _rows(selection / f"{name}.jsonl")]
    said = {_plain(row["query"]) for row in [*queries, *_rows(selection / "negatives.jsonl")]}
    golden = {gold for row in _rows(selection / "test.jsonl") for gold in row["gold"]}
    names, heads = _in_sample(Path(os.environ["SKILLWEAVE_SKILLS_SAMPLE"]))
    documents: list[str] = []
    lines: list[Line] = []
    for skill in corpus:
        description = skill["description"] or ""
        if skill["id"] in golden or _plain(skill["name"]) in names or _plain(description)[:80] in heads:
            continue
        documents.append(clean(re.sub("[-_]", " ", skill["name"]) + ": " + description))
        own = {_plain(line.text): line for line in _lines(description, skill["body"] or "")}
        lines.extend(line for key, line in own.items() if len(key) >= 8 and key not in said)
    return documents, lines


def drawn(lines: Iterable[Line], seed: int = 11) -> list[str]:
    """The lines that the teacher sees."""
    rng, by_kind = random.Random(seed), defaultdict(list)
    for line in lines:
        if len(line.text) < 110:
            by_kind[line.kind].append(line.text)
    found: list[str] = []
    for kind, most in DRAWN.items():
        rng.shuffle(by_kind[kind])
        found += by_kind[kind][:most]
    rng.shuffle(found)
    return found


def translations() -> dict[str, dict[str, str]]:
    """By language what stands for an English message."""
    found: dict[str, dict[str, str]] = {language: {} for language in LANGUAGES}
    for path in wheels():
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".mo") and (language := re.search(r"(?:locale|locales)/(\w+)/LC_MESSAGES/", name)):
                    catalog = gettext.GNUTranslations(io.BytesIO(archive.read(name)))._catalog
                    pairs = (
                        (key.split("\x04")[-1], value) for key, value in catalog.items() if isinstance(key, str) and key
                    )
                    _add(found, language[1], pairs)
    with zipfile.ZipFile(wheel("home-assistant-frontend")) as archive:
        parts: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
        for name in archive.namelist():
            if match := re.search(r"static/translations/(.*?)([a-zA-Z]{2,3}(?:-[A-Za-z]+)?)-[0-9a-f]{8,}\.json$", name):
                parts[match[1]][match[2]] = dict(_flat(json.loads(archive.read(name))))
    for part in parts.values():
        english = part.get("en", {})
        for language, messages in part.items():
            _add(found, language, ((english[key], text) for key, text in messages.items() if key in english))
    return found


def common_messages(translated: dict[str, dict[str, str]], most: int = 2_600, seed: int = 5) -> list[str]:
    """English messages of two words and more that at least six languages have."""
    counts = Counter(text for messages in translated.values() for text in messages if len(text.split()) > 1)
    several = sorted(text for text, count in counts.items() if count >= 6)
    random.Random(seed).shuffle(several)
    return several[:most]


def clean(text: str) -> str:
    """The text without Markdown's marks, on one line."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"[*_`#]+", "", text))
    return re.sub(r"\s+", " ", text).strip(" -–—:|")


def _lines(description: str, body: str) -> Iterator[Line]:
    yield from (Line(clean(match[1]), "phrase") for match in _QUOTED.finditer(description))
    for sentence in re.split(r"(?<=[.!?;])\s+|\n+", clean(description)):
        if len(sentence.split()) >= 3:
            yield Line(sentence.strip(), "sentence")
    of_use = in_code = False
    for row in body.split("\n"):
        if row.strip().startswith("```"):
            in_code = not in_code
        elif in_code:
            continue
        elif heading := _HEADING.match(row):
            of_use = bool(_USE.search(heading[1])) and not _NEVER.search(heading[1])
            if 3 <= len(heading[1].split()) <= 12 and not of_use:
                yield Line(clean(heading[1]), "heading")
        else:
            item = _ITEM.match(row)
            text = clean(item[1] if item else row)
            if 3 <= len(text.split()) <= 40 and not row.strip().startswith("|"):
                yield from (Line(clean(match[1]), "example" if of_use else "quote") for match in _QUOTED.finditer(row))
                yield Line(text, "use" if of_use and not _NEVER.search(text) else "line")


def _in_sample(folder: Path) -> tuple[set[str], set[str]]:
    """The names and the beginnings of descriptions of the public sample."""
    import asyncio

    from skillweave.registry import Registry
    from skillweave.sources.folder import Folder

    registry = Registry([Folder(folder)])
    asyncio.run(registry.refresh())
    skills = list(registry.snapshot.values())
    return {_plain(skill.name) for skill in skills}, {_plain(skill.description)[:80] for skill in skills}


def _add(found: dict[str, dict[str, str]], language: str, pairs: Iterable[tuple[str, object]]) -> None:
    own = found.get(re.split("[-_]", language.lower())[0])
    for english, text in pairs if own is not None else ():
        if isinstance(text, str) and isinstance(english, str) and len(english) <= 200 and len(text) <= 200:
            ours, theirs = (re.sub(r"\s+", " ", _FILLER.sub("", one)).strip() for one in (english, text))
            if theirs and ours != theirs and re.search("[A-Za-z]{3}", ours):
                own.setdefault(ours, theirs)


def _flat(messages: dict[str, object], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in messages.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}.{key}")
        elif isinstance(value, str):
            yield f"{before}.{key}", value


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(row) for row in path.read_text().splitlines()]


def _plain(text: object) -> str:
    return re.sub(r"\W+", " ", str(text).lower()).strip()
