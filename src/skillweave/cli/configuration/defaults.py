"""The defaults of one command as typer asks for them: one by one, so that a file is read when a value is wanted."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import typer

from skillweave.cli.configuration.configuration import Chosen, Configuration, Setting, configuration_of
from skillweave.cli.configuration.file import InvalidConfiguration
from skillweave.cli.configuration.keys import Key, keys_of
from skillweave.cli.configuration.values import why_refused
from skillweave.errors import SkillweaveError


class Defaults:
    """A mapping from parameters to configured values; `given` are those that were taken."""

    def __init__(self, command: str, keys: Mapping[str, Key], chosen: Chosen) -> None:
        self.given: dict[str, Setting] = {}
        self._command = command
        self._keys = keys
        self._chosen = chosen
        self._read: Configuration | None = None

    def get(self, parameter: str, default: object = None) -> object:
        """The configured value; raises InvalidConfiguration for a file that cannot be taken as it is."""
        key = self._keys.get(parameter)
        setting = None if key is None else self._configuration().setting(key, self._command)
        if setting is None:
            return default
        self.given[parameter] = setting
        return setting.value

    def explained(self, error: typer.BadParameter) -> Exception:
        """The error itself, or one that names the place where the refused value stands."""
        setting = self.given.get(getattr(error.param, "name", None) or "")
        if setting is None:
            return error
        message = why_refused(setting.key, setting.value, error.message)
        return InvalidConfiguration(f"{setting.place}: {setting.key.name!r} is wrong: {message}; mend it there")

    def name_places(self, error: SkillweaveError) -> None:
        """Note on the error where those of its words stand that were configured."""
        text = str(error)
        for setting in self.given.values():
            values = setting.value if isinstance(setting.value, list) else [setting.value]
            if any(_is_named(str(value), text) for value in values):
                error.add_note(f"{setting.key.name!r} is set in {setting.place}")

    def _configuration(self) -> Configuration:
        if self._read is None:
            self._read = self._checked(configuration_of(self._chosen))
        return self._read

    def _checked(self, configuration: Configuration) -> Configuration:
        """The configuration; raises InvalidConfiguration with the first thing that is wrong in its file."""
        if configuration.file is None:
            return configuration
        from skillweave.cli.configuration.check import problems_of
        from skillweave.cli.configuration.commands import NAMES, keys_of_command

        for problem in problems_of(configuration.file, NAMES, {self._command: partial(keys_of_command, self._command)}):
            raise InvalidConfiguration(problem)
        return configuration


def _is_named(value: str, text: str) -> bool:
    """Whether a text is about a value: it quotes it, or it has a path that stands in it."""
    return repr(value) in text or (len(value) > 2 and bool({"/", ".", "\\"} & set(value)) and value in text)


class Silent(Defaults):
    """The same for shell completion, where whatever is wrong means that nothing is configured."""

    def get(self, parameter: str, default: object = None) -> object:
        """The configured value, if there is one."""
        try:
            return super().get(parameter, default)
        except (SkillweaveError, OSError):
            return default


def defaults_of(function: Any, name: str | None, parent: Any, *, silent: bool) -> Defaults:  # noqa: ANN401 - typer's types are private
    """The defaults of a command that is about to be parsed; `silent` for shell completion."""
    names = [name or ""]
    while parent is not None and parent.parent is not None:
        names.append(parent.info_name)
        parent = parent.parent
    chosen = chosen_in({} if parent is None else parent.params)
    return (Silent if silent else Defaults)(names[-1], keys_of(function), chosen)


def chosen_in(params: Mapping[str, Any]) -> Chosen:
    """What was said before the command, from the parameters of the program itself."""
    return Chosen(params.get("config"), bool(params.get("no_config")))
