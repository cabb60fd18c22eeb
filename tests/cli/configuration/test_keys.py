from collections.abc import Mapping
from inspect import signature
from typing import Any

import pytest

from skillweave.cli import OF_ONE_CALL, OF_ONE_TURN, OWN, Key, Kind, Program, key_of, options, shared_keys, spread
from skillweave.cli.app import command as whole
from skillweave.cli.commands import is_guest


def commands() -> Mapping[str, Any]:
    program = Program(whole())
    return {name: program.keys(name) for name in OWN}


@pytest.mark.parametrize(
    ("annotation", "key"),
    [
        (options.Skills, Key("skills", Kind.TEXTS, is_path=True)),
        (options.Strict, Key("strict", Kind.FLAG)),
        (options.MaxSkills, Key("max-skills", Kind.WHOLE)),
        (options.Catalog, Key("catalog", Kind.TEXT)),
        (options.KeptLedger, Key("ledger", Kind.TEXT, is_path=True)),
        (options.Tools, Key("tool", Kind.TEXTS)),
        (options.Conversation, None),
        (options.KnownConversation, None),
        (options.AsJson, None),
        (str, None),
    ],
)
def test_an_option_says_itself_how_it_is_configured(annotation: object, key: Key | None) -> None:
    assert key_of(annotation) == key


def test_a_variable_is_the_option_in_capitals() -> None:
    assert shared_keys()["max-skills"].variable == "SKILLWEAVE_MAX_SKILLS"


def test_whatever_commands_share_is_a_key_of_the_file() -> None:
    owners: dict[Key, set[str]] = {}
    for command, keys in commands().items():
        for key in keys.values():
            owners.setdefault(key, set()).add(command)
    shared = {key for key, of in owners.items() if len(of) > 1 and not all(map(is_guest, of))}
    assert shared <= set(shared_keys().values()), "write the option once, in cli/options.py"


def test_every_key_is_an_option_of_some_command() -> None:
    known = {key for keys in commands().values() for key in keys.values()}
    assert set(shared_keys().values()) <= known


def test_what_belongs_to_a_turn_or_a_call_is_never_a_key() -> None:
    for command, keys in commands().items():
        assert not (OF_ONE_TURN | OF_ONE_CALL) & keys.keys(), command


def test_the_default_of_a_key_is_the_one_of_its_command() -> None:
    from skillweave.cli.weave import weave

    program = Program(whole())
    assert program.default(shared_keys()["max-skills"]) == signature(spread(weave)).parameters["max_skills"].default
    assert program.default(shared_keys()["strict"]) is False
