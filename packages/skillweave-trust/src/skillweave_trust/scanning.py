"""What looks like an attack in the files of a skill: rules that are data, findings that only ever take away."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import re2

from skillweave.errors import InvalidValue
from skillweave.values import Portable
from skillweave_trust.scripts.interpreters import INTERPRETERS

__all__ = ["Finding", "findings_from_sarif", "scan_files", "scan_folder", "to_sarif"]

_SCRIPTS = {*INTERPRETERS, ".ts", ".ps1", ".rb", ".pl", ".php", ".bat", ".cmd", ".zsh"}
_MOST_BYTES = 4 * 1024 * 1024
_MOST_OF_A_KIND = 20
_LONGEST_EXCERPT = 120
_LEVELS = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding(Portable):
    """Something that looks like an attack: its code and severity, the place, what stands there, and why it matters.

    `severity` is error, warning or note; an error holds a skill back where a policy asks for a scan.
    """

    code: str
    severity: str
    path: str
    line: int
    excerpt: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Rule:
    code: str
    severity: str
    files: str
    pattern: Any
    reason: str


def scan_files(files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """Returns the findings in the files of one skill, by path and line, at most 20 of a rule in a file."""
    return tuple(found for path in sorted(files) for found in _scan_one(path, files[path]))


def scan_folder(folder: Path) -> tuple[Finding, ...]:
    """Returns the findings in all files below a folder; a link out of it is one itself. Raises InvalidValue."""
    if not folder.is_dir():
        raise InvalidValue(f"{folder} is no folder; name a folder of skills")
    root, found = folder.resolve(), list[Finding]()
    for place in sorted(folder.rglob("*")):
        path = place.relative_to(folder).as_posix()
        if ".git" in place.parts or "node_modules" in place.parts:
            continue
        if place.is_symlink():
            if not place.resolve().is_relative_to(root):
                why = "a link that leads out of the folder"
                found.append(Finding("link-outside", "error", path, 1, "", why))
        elif place.is_file():
            with place.open("rb") as file:
                found += _scan_one(path, file.read(_MOST_BYTES))
    return tuple(found)


def _scan_one(path: str, data: bytes) -> Iterator[Finding]:
    text = data[:_MOST_BYTES].decode("utf-8", "replace")
    if "\0" in text:
        return
    kind = "script" if PurePosixPath(path).suffix.lower() in _SCRIPTS or text.startswith("#!") else "text"
    for rule in _rules():
        if rule.files in {"any", kind}:
            for hit in islice(rule.pattern.finditer(text), _MOST_OF_A_KIND):
                line = text.count("\n", 0, hit.start()) + 1
                excerpt = ascii(hit.group()[:_LONGEST_EXCERPT])[1:-1]
                yield Finding(rule.code, rule.severity, path, line, excerpt, rule.reason)


@cache
def _rules() -> tuple[_Rule, ...]:
    tables = sorted((one for one in (resources(__package__) / "rules").iterdir()), key=lambda one: one.name)
    return tuple(
        _Rule(rule["code"], rule["severity"], rule["files"], re2.compile(rule["pattern"]), rule["reason"])
        for table in tables
        for rule in tomllib.loads(table.read_text("utf-8"))["rule"]
    )


def to_sarif(findings: Sequence[Finding]) -> str:
    """Returns the findings as a SARIF 2.1.0 document."""
    reasons = {one.code: one.reason for one in findings}
    results = [
        {
            "ruleId": one.code,
            "level": one.severity,
            "message": {"text": one.reason},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": one.path},
                        "region": {"startLine": one.line, "snippet": {"text": one.excerpt}},
                    }
                }
            ],
        }
        for one in findings
    ]
    rules = [{"id": code, "shortDescription": {"text": reason}} for code, reason in sorted(reasons.items())]
    run = {"tool": {"driver": {"name": "skillweave scan", "rules": rules}}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1)


def findings_from_sarif(path: Path) -> tuple[Finding, ...]:
    """Returns the findings of a SARIF 2.1.0 file, whatever scanner wrote it. Raises InvalidValue."""
    try:
        data = json.loads(path.read_bytes())
        if data["version"] != "2.1.0":
            raise InvalidValue(f"{path} is SARIF {data['version']!r}; 2.1.0 is read")
        return tuple(_from_result(result) for run in data["runs"] for result in run.get("results") or ())
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue(f"{path} cannot be read: {error}; name a SARIF 2.1.0 file") from None
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidValue(f"{path} is not SARIF 2.1.0 ({type(error).__name__}: {error}); name such a file") from None


def _from_result(result: Mapping[str, Any]) -> Finding:
    level = result.get("level", "warning")
    where = (result.get("locations") or [{}])[0].get("physicalLocation", {})
    region = where.get("region", {})
    excerpt = str(region.get("snippet", {}).get("text", ""))[:_LONGEST_EXCERPT]
    return Finding(
        str(result.get("ruleId", "unnamed")),
        level if level in _LEVELS else "warning",
        str(where.get("artifactLocation", {}).get("uri", "")),
        int(region.get("startLine", 1)),
        ascii(excerpt)[1:-1],
        str(result["message"].get("text", ""))[:300],
    )
