"""The JSON in what a model answered: the answer as a whole, or the fenced block in it."""

import json
import re
from dataclasses import dataclass
from typing import Any

from skillweave.contracts import codes
from skillweave.contracts.problem import Problem
from skillweave.contracts.wording import shown
from skillweave.frontmatter.codes import DUPLICATE_KEY
from skillweave.frontmatter.documents import refuse_constant

MAX_TEXT = 4 << 20
"""Characters of an answer that are read."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)")
_MOST_REPEATED = 5


@dataclass(frozen=True, slots=True)
class Read:
    """What was read; `is_json` tells whether that is JSON data, or nothing because of `problems`."""

    value: Any = None
    is_json: bool = False
    problems: tuple[Problem, ...] = ()


def read_answer(text: str) -> Read:
    """The JSON that an answer is or has; never raises.

    That is the whole text, else its last block in a ```` ```json ```` fence, else its last block in a fence without a
    language that is JSON.
    """
    if len(text) > MAX_TEXT:
        fix = "shorten it, or check it in parts"
        why = f"the text has {len(text):,} characters, more than the {MAX_TEXT:,} that are read"
        return Read(problems=(Problem(codes.VALUE_TOO_LARGE, (), why, fix),))
    whole = _read(text)
    if whole.is_json:
        return whole
    blocks = _blocks(text)
    labelled = [content for language, content in blocks if language.lower() == "json"]
    bare = [read for read in (_read(content) for language, content in blocks if not language) if read.is_json]
    if labelled:
        return _last([_read(content) for content in labelled])
    return _last(bare) if bare else whole


def _last(reads: list[Read]) -> Read:
    read = reads[-1]
    if len(reads) == 1:
        return read
    message = f"the answer has {len(reads)} JSON blocks; the last is read"
    several = Problem(codes.SEVERAL_BLOCKS, (), message, "give one block only")
    return Read(read.value, read.is_json, (several, *read.problems))


def _read(text: str) -> Read:
    repeated: list[Problem] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, value in pairs:
            if key not in data:
                data[key] = value
            elif len(repeated) < _MOST_REPEATED:
                message = f"key {shown(key)} stands twice in one object; the first one counts"
                repeated.append(Problem(DUPLICATE_KEY, (), message, "remove one of them"))
        return data

    try:
        value = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=once, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        return _no_json(f"{error.msg} in line {error.lineno}, column {error.colno}")
    except RecursionError:
        return _no_json("it is nested too deeply")
    except ValueError as error:
        return _no_json(str(error).partition(";")[0])
    return Read(value, is_json=True, problems=tuple(repeated))


def _no_json(why: str) -> Read:
    fix = "answer with JSON alone, or put it into a ```json block"
    return Read(problems=(Problem(codes.NOT_JSON, (), f"the text is no JSON: {why}", fix),))


def _blocks(text: str) -> list[tuple[str, str]]:
    """The language and content of each fenced block; one that is never closed reaches to the end (CommonMark 4.5)."""
    blocks: list[tuple[str, str]] = []
    fence, language, content = "", "", [""]
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not fence and found:
            fence, language, content = found[1], found[2], []
        elif fence and found and _closes(line, fence):
            blocks.append((language, "\n".join(content)))
            fence = ""
        elif fence:
            content.append(line)
    return [*blocks, (language, "\n".join(content))] if fence else blocks


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])
