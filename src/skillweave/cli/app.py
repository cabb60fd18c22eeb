"""The commands, put together; the module of a command is loaded when that command is used."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]

from skillweave.cli.command import Command, Deferred, Group, Unconfigured, spread

PROMISE = "Put the right skill into an agent's context: once, inside a token budget, explained."
CODES = (
    "Exit codes: 0 all is well, 1 a mistake or something wrong was found, 2 usage, 3 a ledger or a "
    "store that does not answer. "
    "With --json every command prints JSON, also for an error: {error: {type, message, exit_code}}."
)
START = """
skillweave demo
skillweave weave --skills DIR "what you would ask your agent"
skillweave check --skills DIR
"""
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "demo": "See it work: one conversation over the example skills.",
        "weave": "Say what to give to the model for a message, and why.",
        "chat": "Talk to a model that is given the right skills.",
        "match": "Show which skills a message calls for, and which nearly match.",
        "catalog": "Print the catalog as the model sees it, with its cost.",
        "show": "Print one skill as the model gets it, with cost and rules.",
        "why": "Say turn by turn what was decided about which skill, and why.",
        "check": "Find what is wrong with skill files, and fix it.",
        "validate": "Check whether skills may be used together.",
        "compose": "Merge several skills into one set of tools and steps.",
        "spawn": "Check what a sub-agent would start with: skills, tools, text.",
        "ledger": "Show what a conversation was given, and answer checkpoints.",
        "entities": "Load what is known of things, look at it, and export it.",
        "graph": "Check a skill graph, draw it, and try it with a script.",
        "eval": "Test whether the right skill is found, and whether it helps.",
        "init": "Begin a new skill, which passes its own check.",
        "add": "Copy skills of others into your folder of skills.",
        "list": "List the skills that were added, and whether they were edited.",
        "remove": "Take an added skill out again.",
        "seed": "Fill a store with skills, their documents and agents.",
        "publish": "Put skills in use, and say which version of each that is.",
        "versions": "List every version of a stored skill, and which one is in use.",
        "rollback": "Put an earlier version of a skill in use.",
        "unpublish": "Take a skill out of use.",
        "migrate": "Bring the tables of a database to the form of this version.",
        "serve": "Answer over HTTP: turns, approvals, skills, events.",
        "keys": "Make, list and revoke the API keys of a service.",
        "approvals": "Read the log of approvals, and check that it is whole.",
        "doctor": "Find what is missing or wrong with this installation.",
        "schema": "Print the JSON Schemas of what --json prints.",
    }
)
"""Every command with its promise, which is the first line of its own help too."""


_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "match": "skillweave.cli.weave",
        "why": "skillweave.cli.weave",
        "catalog": "skillweave.cli.skills",
        "show": "skillweave.cli.skills",
        "list": "skillweave.cli.add",
        "remove": "skillweave.cli.add",
        "eval": "skillweave_eval.commands",
        **dict.fromkeys(("seed", "publish"), "skillweave_stores.commands.seed"),
        **dict.fromkeys(("versions", "rollback", "unpublish", "migrate"), "skillweave_stores.commands.store"),
        **{name: f"skillweave_server.commands.{name}" for name in ("serve", "keys", "approvals")},
        **dict.fromkeys(("validate", "compose", "spawn"), "skillweave.cli.combine"),
    }
)
"""Where a command stands that has no module of its name."""
_GROUPS = ("ledger", "entities", "graph", "eval", "keys", "approvals")


def command() -> Any:  # noqa: ANN401 - typer's command type is private
    """The command of all commands, as typer runs it."""
    completion_init()
    app = _typer()
    app.callback(help=f"{PROMISE}\n\n{CODES}", epilog=START)(_options)
    group: Any = typer.main.get_command(app)
    for name, promise in COMMANDS.items():
        group.add_command(Deferred(name, promise, load_command(name)))
    return group


def load_command(name: str) -> Callable[[], Any]:
    """What makes the command of that name, or the group of commands."""
    return partial(_made, name)


@cache
def _made(name: str) -> Any:  # noqa: ANN401
    """Every module of commands has the examples of each, by its name and in the order of the help."""
    module = import_module(_MODULES.get(name, f"skillweave.cli.{name}"))
    app = _typer(help=COMMANDS[name], **getattr(module, "GROUP", {}))
    if name in _GROUPS:
        app.callback()(_nothing)
    for inner in module.EXAMPLES if name in _GROUPS else (name,):
        function = getattr(module, f"{inner}_", None) or getattr(module, inner)
        kind = Unconfigured if inner == "doctor" else Command
        app.command(inner, cls=kind, epilog=module.EXAMPLES[inner])(spread(function))
    return typer.main.get_command(app)


def _nothing() -> None:
    """What a group does by itself; with it typer takes one command for a group too."""


def _typer(**settings: Any) -> typer.Typer:  # noqa: ANN401
    plain = {"cls": Group, "rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}
    help_options = {"help_option_names": ["--help", "-h"]}
    return typer.Typer(**{**plain, "context_settings": help_options, **settings})


def _print_version(ctx: typer.Context, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from skillweave._version import __version__

        typer.echo(f"skillweave {__version__}")
        raise typer.Exit


def _install_completion(ctx: typer.Context, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from skillweave.cli.completion import install_in, require_shell

        shell = require_shell()
        typer.echo(f"completion for {shell} is set up in {install_in(shell)}; it works in every new shell")
        raise typer.Exit


def _show_completion(ctx: typer.Context, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from skillweave.cli.completion import require_shell, script_of

        typer.echo(script_of(require_shell()))
        raise typer.Exit


def _options(
    config: Annotated[
        str | None,
        typer.Option("--config", metavar="FILE", help="Read this configuration, not the nearest skillweave.toml."),
    ] = None,
    no_config: Annotated[bool, typer.Option("--no-config", help="Read no configuration file.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option("--install-completion", help="Set completion up in this shell.", callback=_install_completion),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option("--show-completion", help="Print what sets it up, to keep elsewhere.", callback=_show_completion),
    ] = False,
) -> None:
    """What stands before any command."""
    if config is not None and no_config:
        raise typer.TyperException("--config names a file, and --no-config says to read none; give one of them")
