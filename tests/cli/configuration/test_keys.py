from skillweave.cli.app import load_command
from skillweave.cli.commands import OWN, find_guests
from skillweave.cli.configuration import NEVER, OF_SATELLITES, keys_of, shared_names


def test_whatever_commands_share_is_a_key_of_the_file() -> None:
    owners: dict[str, list[str]] = {}
    for name, spec in OWN.items():
        for key in keys_of(load_command(name, spec)):
            owners.setdefault(key, []).append(name)
    shared = {key for key, of in owners.items() if len(of) > 1}
    assert shared - {"all"} <= shared_names(), "write the option once, in cli/options.py"
    assert shared_names() - OF_SATELLITES <= owners.keys(), "every one is an option of some command"


def test_options_of_the_service_and_the_stores_are_keys_where_these_are_not_installed_too() -> None:
    taken = {
        key
        for name, spec in find_guests().taken.items()
        if spec.module.startswith(("skillweave_server.", "skillweave_stores."))
        for key in keys_of(load_command(name, spec))
    }
    assert taken <= shared_names()
    assert taken >= OF_SATELLITES


def test_what_belongs_to_a_turn_or_a_call_is_never_a_key() -> None:
    for name, spec in OWN.items():
        assert not NEVER & keys_of(load_command(name, spec)).keys(), name
