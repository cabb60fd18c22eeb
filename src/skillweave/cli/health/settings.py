"""What is configured: the file, its faults, and of each option where its value comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from typer import BadParameter

from skillweave.cli.configuration.check import Program, problems_of, strange_variables
from skillweave.cli.configuration.configuration import Chosen, Configuration, Origin, Setting, configuration_of
from skillweave.cli.configuration.file import OWN, ConfigFile, InvalidConfiguration
from skillweave.cli.configuration.keys import Key, WrongType, shared_keys, why_refused
from skillweave.cli.health import ConfigurationShown, Finding, Level, ValueShown, without_secrets

CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True)
class Settings:
    """The value of every option that can be configured, and what there is to say about how it came about."""

    file: str | None
    values: Mapping[str, Setting]
    findings: tuple[Finding, ...]

    def value(self, name: str) -> Any:  # noqa: ANN401 - of the kind that the option has
        """The value of one option."""
        return self.values[name].value

    def to_dict(self) -> ConfigurationShown:
        """The JSON form, without passwords."""
        values: list[ValueShown] = [
            {"key": name, "value": _shown(one.value), "origin": one.origin.value, "place": one.place or None}
            for name, one in self.values.items()
        ]
        return {"file": self.file, "values": values}


def settings_now(
    program: Program, chosen: Chosen, flags: Mapping[str, object], environment: Mapping[str, str]
) -> Settings:
    """Everything as it would be taken by a command; a fault costs the value that has it, and is a finding."""
    try:
        configuration = configuration_of(chosen, environment)
        findings = list(_about_file(configuration.file, program))
    except InvalidConfiguration as error:
        findings = [Finding(CONFIGURATION, "file", Level.PROBLEM, str(error))]
        configuration = Configuration(None, environment)
    for strange in strange_variables(environment):
        findings.append(Finding(CONFIGURATION, "environment", Level.PROBLEM, strange))
    values = {name: _value(configuration, name, flags, program) for name in shared_keys()}
    for name, setting in values.items():
        try:
            values[name] = replace(setting, value=program.as_flag(setting.key, setting.value))
        except BadParameter as error:
            why = why_refused(setting.key, setting.value, error.message)
            message = f"{_words(setting.value)}, from {setting.place}: {why}"
            findings.append(Finding(CONFIGURATION, name, Level.PROBLEM, message, "mend it there"))
            values[name] = _default(setting.key, program)
    file = configuration.file.shown if configuration.file else None
    return Settings(file, values, (*findings, *_about_values(values)))


def _about_file(file: ConfigFile | None, program: Program) -> Iterator[Finding]:
    if file is None:
        yield Finding(CONFIGURATION, "file", Level.OK, f"none: there is no {OWN} here or above, and none is needed")
        return
    yield Finding(CONFIGURATION, "file", Level.OK, file.shown)
    for problem in problems_of(file, program, program.names):
        yield Finding(CONFIGURATION, "file", Level.PROBLEM, problem)


def _value(configuration: Configuration, name: str, flags: Mapping[str, object], program: Program) -> Setting:
    key = shared_keys()[name]
    if flags.get(name):
        return Setting(key, flags[name], Origin.FLAG, f"--{name}")
    try:
        found = configuration.setting(key, "doctor")
    except WrongType:
        found = None
    return found or _default(key, program)


def _default(key: Key, program: Program) -> Setting:
    return Setting(key, program.default(key), Origin.DEFAULT, "")


def _about_values(values: Mapping[str, Setting]) -> Iterator[Finding]:
    for name, setting in values.items():
        if setting.origin is not Origin.DEFAULT:
            message = f"{_words(setting.value)}, from the {setting.origin.value}: {setting.place}"
            yield Finding(CONFIGURATION, name, Level.OK, message)
    defaults = [f"{name} {_words(one.value)}" for name, one in values.items() if one.origin is Origin.DEFAULT]
    if defaults:
        yield Finding(CONFIGURATION, "defaults", Level.OK, ", ".join(defaults))


def _words(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "(empty)"
    names = {None: "(not set)", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value)


def _shown(value: Any) -> Any:  # noqa: ANN401 - of the kind that the option has
    """The value as JSON data without passwords."""
    if isinstance(value, list):
        return [without_secrets(str(item)) for item in value]
    return without_secrets(value) if isinstance(value, str) else value
