"""The commands, put together; the module of a command is loaded when that command is used."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any

import typer

from skillweave.cli.output.help import Command, Deferred, Group

PROMISE = "Put the right skill into an agent's context: once, inside a token budget, explained."
CODES = (
    "Exit codes: 0 all is well, 1 a mistake or something wrong was found, 2 usage, 3 a ledger that does not answer. "
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
        "match": "Show which skills a message calls for, and which nearly.",
        "catalog": "Print the catalog as the model sees it, with its cost.",
        "show": "Print one skill as the model gets it, with cost and rules.",
        "why": "Say turn by turn what was decided about which skill, and why.",
        "check": "Find what is wrong with skill files, with line and fix.",
        "validate": "Check whether skills may be used together.",
        "compose": "Merge several skills into one set of tools and steps.",
        "ledger": "Show what a conversation was given, or forget it.",
    }
)
"""Every command with its promise, which is the first line of its own help too."""


def command() -> Any:  # noqa: ANN401 - typer's command type is private
    """The command of all commands, as typer runs it."""
    app = _typer(add_completion=True)
    app.callback(help=f"{PROMISE}\n\n{CODES}", epilog=START)(_options)
    group: Any = typer.main.get_command(app)
    for name, promise in COMMANDS.items():
        group.add_command(Deferred(name, promise, load_command(name)))
    return group


def load_command(name: str) -> Callable[[], Any]:
    """What makes the command of that name."""
    return _ledger if name == "ledger" else partial(_command, name)


def _command(name: str) -> Any:  # noqa: ANN401
    module = import_module(f"skillweave.cli.{name}")
    app = _typer()
    app.command(cls=Command, epilog=module.EXAMPLES)(getattr(module, name))
    return typer.main.get_command(app)


def _ledger() -> Any:  # noqa: ANN401
    from skillweave.cli import ledger

    app = _typer(help=COMMANDS["ledger"])
    app.command(cls=Command, epilog=ledger.SHOW_EXAMPLES)(ledger.show)
    app.command(cls=Command, epilog=ledger.EVICT_EXAMPLES)(ledger.evict)
    app.command(cls=Command, epilog=ledger.CLEAR_EXAMPLES)(ledger.clear)
    return typer.main.get_command(app)


def _typer(**settings: Any) -> typer.Typer:  # noqa: ANN401
    plain = {"cls": Group, "rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}
    help_options = {"help_option_names": ["--help", "-h"]}
    return typer.Typer(**{**plain, "context_settings": help_options, **settings})


def _print_version(value: bool) -> None:
    if value:
        from skillweave._version import __version__

        typer.echo(f"skillweave {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """What stands before any command."""
