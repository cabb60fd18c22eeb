from typing import Any

import pytest

from skillweave.cli import OF_ONE_CALL, OF_ONE_TURN, OWN, Program, keys_of, load_command, shared_names
from skillweave.cli.app import command
from skillweave.cli.commands import is_guest


@pytest.fixture
def program() -> Program:
    return Program(command())


def test_an_option_says_itself_how_it_is_configured() -> None:
    keys = keys_of(load_command("weave", OWN["weave"]))
    wanted = {name: keys[name].wanted[0] for name in ("skills", "strict", "max_skills", "catalog", "ledger", "tool")}
    assert wanted == {
        "skills": "a list of texts",
        "strict": "true or false",
        "max_skills": "a text or a number",
        "catalog": "a text or a number",
        "ledger": "a text or a number",
        "tool": "a list of texts",
    }
    assert not {"conversation", "message", "as_json"} & keys.keys()


def test_a_variable_is_the_option_in_capitals(program: Program) -> None:
    assert program.keys("weave")["max-skills"].variable == "SKILLWEAVE_MAX_SKILLS"


def test_whatever_commands_share_is_a_key_of_the_file(program: Program) -> None:
    owners: dict[str, list[str]] = {}
    for name in OWN:
        for key in program.keys(name):
            owners.setdefault(key, []).append(name)
    shared = {key for key, of in owners.items() if len(of) > 1 and not all(map(is_guest, of))}
    assert shared <= shared_names(), "write the option once, in cli/options.py"
    assert shared_names() <= owners.keys(), "every one is an option of some command"


def test_what_belongs_to_a_turn_or_a_call_is_never_a_key(program: Program) -> None:
    for name in OWN:
        assert not (OF_ONE_TURN | OF_ONE_CALL) & program.keys(name).keys(), name


def test_the_default_of_a_key_is_the_one_of_its_command(program: Program) -> None:
    keys: Any = program.keys("weave")
    assert (keys["max-skills"].parameter.default, keys["strict"].parameter.default) == (3, False)
