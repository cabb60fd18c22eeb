"""Commands as typer runs them: configured defaults, help in groups with examples, and loading only when used."""

from collections.abc import Awaitable, Callable
from dataclasses import MISSING, fields, is_dataclass, replace
from inspect import Parameter, Signature, iscoroutine, signature
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from skillweave.errors import SkillweaveError


def spread(function: Callable[..., object]) -> Callable[..., object]:
    """The function as typer reads it: its dataclasses of options spread out, `--json` added, coroutines run."""
    from skillweave.cli.options import AsJson

    sets: dict[str, type] = {}
    spelled: dict[str, Parameter] = {}
    for name, parameter in signature(function).parameters.items():
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation):
            sets[name] = parameter.annotation
            parts = fields(parameter.annotation)
            defaults = (Parameter.empty if part.default is MISSING else part.default for part in parts)
            stated = [(part.name, part.type, default) for part, default in zip(parts, defaults, strict=True)]
        else:
            stated = [(name, parameter.annotation, parameter.default)]
        for own, annotation, default in stated:
            spelled[own] = Parameter(own, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
    wants_json = "as_json" in spelled
    spelled.setdefault("as_json", Parameter("as_json", Parameter.KEYWORD_ONLY, annotation=AsJson, default=False))

    def command(**given: Any) -> object:  # noqa: ANN401
        if not wants_json:
            del given["as_json"]
        for name, kind in sets.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        answer = function(**given)
        if not iscoroutine(answer):
            return answer
        import asyncio

        return asyncio.run(_to_its_end(answer))

    command.__doc__ = function.__doc__
    command.__signature__ = Signature(list(spelled.values()))  # type: ignore[attr-defined]
    return command


async def _to_its_end(answer: Awaitable[object]) -> object:
    from skillweave.cli.arguments.skills import sources_closed

    async with sources_closed():
        return await answer


class _WithExamples:
    """A command or a group whose help ends with the examples of its epilog."""

    epilog: str | None

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.strip().splitlines():
                    formatter.write(f"  {line}\n")


class Command(_WithExamples, TyperCommand):
    """A command whose help groups its options and ends with examples, and whose options can be configured."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:  # noqa: ANN401
        """The context, with what is configured as defaults; raises InvalidConfiguration for what cannot be."""
        # Neither shell completion nor what is about the configuration, and must run when that is at fault.
        if extra.get("resilient_parsing") or info_name == "doctor":
            return super().make_context(info_name, args, parent=parent, **extra)
        from skillweave.cli.configuration import Defaults

        path = [*parent.command_path.split()[1:], str(info_name)]
        defaults = Defaults(self, path, parent.find_root())
        try:
            return super().make_context(info_name, args, parent=parent, default_map=defaults, **extra)
        except BadParameter as error:
            raise defaults.explained(error) from None

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """The command's answer with the name of its schema; an error says where the values stand that it is about."""
        try:
            return _named(super().invoke(ctx), "-".join(ctx.command_path.split()[1:]))
        except SkillweaveError as error:
            if ctx.default_map is not None:
                ctx.default_map.name_places(error)
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """The help, with the defaults of the program: it reads no file, and says the same everywhere."""
        ctx.default_map = None
        super().format_help(ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer names no public types for these
        """Arguments first, then options by their group, in the order of the signature."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name, text = record
            if parameter.param_type_name == "argument":
                group, name = "Arguments", str(parameter.metavar or name).removesuffix("...")
            else:
                group = getattr(parameter, "rich_help_panel", None) or "Output"
            groups.setdefault(group, []).append((name, text))
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)


class Deferred(TyperCommand):
    """A command that is made when it is used; until then only its name and promise are known."""

    def __init__(self, name: str, promise: str, load: Callable[[], Any]) -> None:
        super().__init__(name, help=promise, rich_markup_mode=None)
        self.load = load
        """Makes the command itself."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:  # noqa: ANN401
        """The context of the command itself."""
        return self.load().make_context(info_name, args, parent=parent, **extra)


class Group(_WithExamples, TyperGroup):
    """A group of commands whose help has all of their promises and ends with examples."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Each command with the first sentences of its help, wrapped and never cut."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _promise(one)) for name, one in self.commands.items()])


class WithDefault(Group):
    """A group in which the first command need not be named, and in which a flag can name another."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """The arguments with the command that they stand for in front."""
        names = list(self.commands)
        before = args[: args.index("--")] if "--" in args else args
        flag = next((word for word in before if word.startswith("--") and word.removeprefix("--") in names), None)
        if flag is not None:
            args = [flag.removeprefix("--"), *(word for word in args if word != flag)]
        elif not args or (args[0] not in names and args[0] not in ctx.help_option_names):
            args = [names[0], *args]
        return super().parse_args(ctx, args)


def _named(answer: object, schema: str) -> object:
    """The answer, or each answer of a stream, with that name for its schema, unless it has one of its own."""
    from skillweave.cli.output.page import Answer, Stream

    if isinstance(answer, Stream):
        return Stream(replace(one, schema=one.schema or schema) for one in answer.answers)
    return replace(answer, schema=answer.schema or schema) if isinstance(answer, Answer) else answer


def _promise(command: Any) -> str:  # noqa: ANN401
    """The first paragraph of a command's help, in one line."""
    return " ".join((command.help or "").split("\n\n")[0].split())
