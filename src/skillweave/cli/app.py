"""The commands, put together; the module of a command is loaded when that command is used."""

from collections.abc import Mapping
from functools import cache, cached_property, partial
from importlib import import_module
from typing import Annotated, Any

import typer

from skillweave.cli.command import Command, Deferred, Group, spread
from skillweave.cli.commands import ELSEWHERE, OWN, Guests, find_guests
from skillweave.errors import SkillweaveError
from skillweave.extensions import CommandSpec

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


def command() -> Any:  # noqa: ANN401 - typer's command type is private
    """The command of all commands, as typer runs it."""
    app = _typer(cls=Everything, add_completion=True)
    app.callback(help=f"{PROMISE}\n\n{CODES}", epilog=START)(_options)
    return typer.main.get_command(app)


class Everything(Group):
    """Our own commands; those of other distributions are looked for when a name is not ours, and for the help."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        self._add(OWN)

    @cached_property
    def guests(self) -> Guests:
        """What other distributions bring, which are commands of this group from then on."""
        found = find_guests()
        self._add(found.taken)
        return found

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        """The command of that name, or None. Raises MissingDistribution if a distribution of ours brings it."""
        if cmd_name not in self.commands and not ctx.resilient_parsing:
            if cmd_name in self.guests.refused:
                raise SkillweaveError(self.guests.refused[cmd_name])
            if cmd_name in ELSEWHERE and cmd_name not in self.commands:
                from skillweave.distributions import MissingDistribution

                raise MissingDistribution(f"`skillweave {cmd_name}`", ELSEWHERE[cmd_name])
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """The names of all commands, our own first."""
        return [*OWN, *self.guests.taken]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Each command with its promise, then what is not here and why."""
        self.list_commands(ctx)
        super().format_commands(ctx, formatter)
        missing: dict[str, list[str]] = {}
        for name in ELSEWHERE.keys() - self.commands.keys() - self.guests.refused.keys():
            missing.setdefault(ELSEWHERE[name], []).append(name)
        if missing:
            with formatter.section("With other distributions"):
                formatter.write_dl([(name, ", ".join(sorted(names))) for name, names in sorted(missing.items())])
        if self.guests.refused:
            with formatter.section("Refused"):
                formatter.write_dl(list(self.guests.refused.items()))

    def _add(self, commands: Mapping[str, CommandSpec]) -> None:
        for name, spec in commands.items():
            self.add_command(Deferred(name, spec.promise, partial(load_command, name, spec)))


@cache
def load_command(name: str, spec: CommandSpec) -> Any:  # noqa: ANN401
    """Makes the command of that name, or the group of commands; imports its module."""
    module = import_module(spec.module)
    app = _typer(help=spec.promise, **getattr(module, "GROUP", {}))
    if spec.is_group:
        app.callback()(_nothing)
    for inner in module.EXAMPLES if spec.is_group else (name,):
        spelled = inner.replace("-", "_")
        function = getattr(module, f"{spelled}_", None) or getattr(module, spelled)
        app.command(inner, cls=Command, epilog=module.EXAMPLES[inner])(spread(function))
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


def _options(
    config: Annotated[
        str | None,
        typer.Option("--config", metavar="FILE", help="Read this configuration, not the nearest skillweave.toml."),
    ] = None,
    no_config: Annotated[bool, typer.Option("--no-config", help="Read no configuration file.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    if config is not None and no_config:
        raise typer.TyperException("--config names a file, and --no-config says to read none; give one of them")
