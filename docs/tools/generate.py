"""Writes the pages of the reference that are made from the code: commands from `--help`, findings, endpoints.

python -m docs.tools.generate
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import skillweave
from docs.tools.http_page import http_page, openapi_document
from docs.tools.plain import plain
from docs.tools.run import DOCS, ROOT, run_command
from skillweave.frontmatter.codes import Code
from skillweave.graph.checked import CODES as GRAPH_CODES

SOURCES = (ROOT / "src", *sorted(ROOT.glob("packages/*/src")))
NOTE = "<!-- Made by `make docs-pages` from the code. -->\n"

INDEX_ANSWER = """\
Every [command](cli.md), every [endpoint](http.md), every [finding](diagnostics.md), every [word](glossary.md), and what
the library offers to programs, from the docstrings of its code.

These names are imported from `skillweave` itself, `from skillweave import Turn`; its modules `skills`, `turns`,
`selection`, `tools`, `graph`, `entities`, `ledger`, `stores`, `registry`, `sources`, `events`, `approvals`, `access`,
`api`, `client`, `errors`, `values` and `commands` have the rest. Importing `skillweave` takes some 15 ms."""
CLI_ANSWER = """\
What every command does, takes and prints, as its `--help` says it. What they have in common is in
[The command line](../concepts/cli.md)."""
DIAGNOSTICS_ANSWER = """\
Every code that a finding can have, with its level and what it means. Codes are stable: programs may rely on them.
`skillweave check` prints findings with file, line and fix; how they are read is in
[Decisions and findings](../concepts/decisions.md#findings)."""

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "skillweave.frontmatter.codes": "The text of a file",
        "skillweave.formats.codes": "The fields of a definition",
        "skillweave.registry.codes": "Sources of every kind",
        "skillweave.sources.codes": "Files, folders and packs",
        "skillweave_stores.sql.codes": "Rows of a database",
        "skillweave.contracts.codes": "Output contracts",
        "skillweave.checks.codes": "What only `check` looks at",
        "skillweave_eval.codes": "Evaluations of triggers and descriptions",
    }
)
"""Headings of the tables in the code, in the order of reading; a table without one goes by its module."""

BESIDE_TABLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "agent-declared-twice": ("warning", "two sources describe an agent differently; precedence says which counts"),
        "agent-without-companion": ("warning", "a skill of an agent requires one that the agent does not have"),
        "agent-unknown-skill": ("warning", "an agent lists a skill that no source has"),
        "ascii-pattern": ("warning", r"a pattern uses `\b`, `\B`, `\w` or `\W`, which know ASCII letters only"),
        "broken-pattern": ("error", "a pattern that the engine cannot or must not run; the other triggers still count"),
        "context-ignored": ("warning", "a second source says what is shown of entities; the first one counts"),
        "decisions-not-kept": ("warning", "the turn is complete, but `why` will not know of it"),
        "entries-not-scored": ("warning", "the scorer of the skill graph gave no answer, so that it chose no entry"),
        "event-declared-twice": ("warning", "two sources declare an event differently; the first one counts"),
        "empty-keyword": ("error", "an empty trigger, which would match every message; left out"),
        "memory-unavailable": (
            "warning",
            "working memory does not answer; a turn of the service goes without it",
        ),
        "event-schema-unchecked": ("info", "the schemas of events are not looked at without the package `jsonschema`"),
        "graph-ignored": ("warning", "a second source brings a skill graph; that of the first one counts"),
        "inactive-skill": ("warning", "the skill graph leads to a skill that is a draft or disabled"),
        "kept-last-good": (
            "warning",
            "a skill, rule, graph or agent that can no longer be read stays in use as it last was",
        ),
        "ledger-durability-unknown": ("info", "a ledger's server does not tell what it may lose"),
        "ledger-may-evict": ("warning", "a ledger's server throws keys away when its memory is full"),
        "ledger-may-lose-writes": (
            "warning, info",
            "a ledger's server may lose something that it acknowledged; the message says how much",
        ),
        "ledger-read-only": ("error", "a ledger's server is a replica, which takes no writes"),
        "ledger-unavailable": ("error", "the ledger does not answer; says whether skills are given or withheld"),
        "lifecycle-unknown-skill": ("warning", "`Settings.lifecycles` names a skill that there is not"),
        "long-keyword": ("error", "a trigger over 500 characters; left out"),
        "matcher-unprepared": (
            "warning",
            "a matcher failed or was late in preparing; it was not asked in that turn, or asked without it",
        ),
        "message-partly-read": (
            "warning",
            "a message is too long for what is looked for in it: its ends were matched, or its beginning",
        ),
        "observer-failed": ("warning", "an observer failed or was late; the turn itself is complete"),
        "overridden": ("warning or info, by the versions", "a registered definition takes the place of a source's"),
        "reranker-failed": ("warning", "a reranker failed: the ranking stands as it is without it"),
        "shadowed": ("warning, info for an equal copy", "another source brings the same id and wins"),
        "skills-may-be-old": ("warning", "a store of skills did not say whether it changed; the turn went on without"),
        "source-unavailable": ("error", "a source that was read before does not answer now; its skills stay in use"),
        "task-rule-unknown-skill": ("warning", "a task rule names a skill that there is not"),
        "text-escaped": ("info", "a line of the skill would pass for one of skillweave's own; it was escaped"),
        "too-many-companions": ("error", "a skill requires more than 100 others, theirs included; it is never given"),
        "too-many-keywords": ("error", "a skill has more than 1,000 keywords; the first ones count"),
        "too-many-patterns": (
            "error",
            "patterns of a skill, or of all, are too many or too large; the first count",
        ),
        "mcp-not-served": ("warning", "a skill that goes out over MCP by the server's tools alone, and why"),
        "mcp-server": (
            "warning",
            "an MCP server that cannot be listed, or that breaks the rules for some of its skills",
        ),
        "plugin-left-out": ("warning", "a skill that is not in the plugin that was written, and why"),
        "words-only": ("warning", "an embedder failed or was late: skills were ranked by their words alone"),
    }
)
"""Level and meaning of the codes that are said where they arise; checked against the code."""


def index_page() -> str:
    """The names that `skillweave` exports, each with the first sentence of its docstring."""
    names = (name for name in skillweave.__all__ if not name.startswith("__"))
    rows = (f"| [`{name}`][{home}] | {_promise(home)} |" for name in names for home in [home_of(name)])
    parts = [
        "# Reference",
        "",
        NOTE,
        INDEX_ANSWER,
        "",
        "| name | what it is |",
        "|---|---|",
        *rows,
    ]
    return "\n".join(parts) + "\n"


def home_of(name: str) -> str:
    """Where an export of the root is defined: `skillweave.settings.Settings`."""
    exported = getattr(skillweave, name)
    if inspect.isclass(exported) or inspect.isfunction(exported):
        return f"{exported.__module__}.{exported.__qualname__}"
    # An alias of a type does not know its module, but the stub does.
    stub = ast.parse(Path(skillweave.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom))
    return next(f"skillweave.{node.module}.{name}" for node in imports if name in [one.name for one in node.names])


def _promise(home: str) -> str:
    module, _, name = home.rpartition(".")
    said = getattr(import_module(module), name)
    text = inspect.getdoc(said) if inspect.isclass(said) or inspect.isfunction(said) else _below(module, name)
    if not text:
        return ""
    first = " ".join(plain(text).split("\n\n")[0].split()).replace("|", "\\|")
    return first.split("; ")[0].rstrip(".") + "."


def _below(module: str, name: str) -> str:
    """The text that stands below an alias where it is defined."""
    found = re.search(
        rf'^{name}: TypeAlias = .*\n"""([^"]+)"""', inspect.getsource(import_module(module)), re.MULTILINE
    )
    return found[1] if found else ""


def cli_page() -> str:
    """Every command with its `--help`, as the command itself prints it."""
    parts = [
        "# Commands",
        "",
        NOTE,
        CLI_ANSWER,
    ]
    for words in command_names():
        name = " ".join(("skillweave", *words))
        parts += ["", f"## {name}", "", "```text", run_command(f"{name} --help").rstrip(), "```"]
    return "\n".join(parts) + "\n"


def command_names() -> Iterator[tuple[str, ...]]:
    """The words of every command: the whole first, a group before its commands."""
    from skillweave.cli.app import load_command
    from skillweave.cli.commands import known_commands

    yield ()
    for name, spec in known_commands().items():
        yield (name,)
        made: Any = load_command(name, spec)
        for inner in getattr(made, "commands", {}):
            yield name, inner


def diagnostics_page() -> str:
    """Every code of a finding, by where it arises."""
    parts = [
        "# Findings",
        "",
        NOTE,
        DIAGNOSTICS_ANSWER,
    ]
    for module, codes in tables().items():
        rows = ((code.name, code.severity.value, code.meaning) for code in codes)
        parts += ["", f"## {TITLES.get(module, module)}", "", *_table(rows)]
    rows = ((name, *said) for name, said in sorted(BESIDE_TABLES.items()))
    parts += ["", "## Triggers, sources, the turn", "", *_table(rows)]
    rows = ((name, code.level.value, code.says.rstrip(".")) for name, code in GRAPH_CODES.items())
    parts += ["", "## The checkup of a skill graph", "", *_table(rows)]
    return "\n".join(parts) + "\n"


def tables() -> dict[str, list[Code]]:
    """The tables of codes in the package by module, each code in the table that defines it."""
    found: dict[str, list[Code]] = {}
    for path in sorted(_files("codes.py"), key=_reading_order):
        name = _module(path)
        found[name] = [value for value in vars(import_module(name)).values() if isinstance(value, Code)]
    return {name: codes for name, codes in found.items() if codes}


def codes_beside_tables() -> set[str]:
    """The codes that stand as texts or constants in calls that make a Diagnostic, and in no table."""
    return {code for path in _files("*.py") for code in _literal_codes(path)} - _in_tables()


def _in_tables() -> set[str]:
    return {code.name for codes in tables().values() for code in codes}


def _literal_codes(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "Diagnostic":
                given = [keyword.value for keyword in node.keywords if keyword.arg == "code"] or node.args[:1]
            elif node.func.id in ("_about", "about"):
                given = node.args[1:2]
            else:
                continue
            values = (_value(path, one) for one in given)
            yield from (value for value in values if isinstance(value, str))


def _value(path: Path, node: ast.expr) -> object:
    """What a literal or a constant of that module stands for; None for anything else."""
    if isinstance(node, ast.Name) and node.id.isupper():
        return getattr(import_module(_module(path)), node.id, None)
    return node.value if isinstance(node, ast.Constant) else None


def _reading_order(path: Path) -> tuple[int, str]:
    name = _module(path)
    return (list(TITLES).index(name) if name in TITLES else len(TITLES)), name


def _module(path: Path) -> str:
    (source,) = (one for one in SOURCES if path.is_relative_to(one))
    return ".".join(path.relative_to(source).with_suffix("").parts)


def _files(pattern: str) -> Iterator[Path]:
    """The files of all distributions that have such a name."""
    for source in SOURCES:
        yield from source.rglob(pattern)


def _table(rows: Iterator[tuple[str, str, str]]) -> Sequence[str]:
    shown = (f"| `{name}` | {level} | {meaning} |" for name, level, meaning in rows)
    return ["| code | level | meaning |", "|---|---|---|", *shown]


PAGES = MappingProxyType(
    {
        "index.md": index_page,
        "cli.md": cli_page,
        "diagnostics.md": diagnostics_page,
        "http.md": partial(http_page, NOTE),
        "openapi.json": openapi_document,
    }
)
"""What is made, by file name."""


def main() -> int:
    """Write all pages."""
    for name, make in PAGES.items():
        (DOCS / "reference" / name).write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
