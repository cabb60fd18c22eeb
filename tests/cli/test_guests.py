"""Commands of other distributions: found by entry point, never in the place of our own, missing ones explained."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import skillweave.distributions
from skillweave.cli.commands import OWN
from skillweave.distributions import how_to_install

LIGHT = """
from skillweave.extensions import CommandSpec

brew = CommandSpec("Brew tea.", "guest_tea_brewing", "guest_tea_brewing:Brewed")
pots = CommandSpec("Look after pots.", "guest_tea_pots", {"wash": "guest_tea_brewing:Brewed"})
"""
BREWING = '''
from dataclasses import dataclass
from typing import Annotated

from skillweave.codec import Portable
from skillweave.commands import OUTPUT, Answer, Loading, Mistake, option, whole_number

EXAMPLES = {"brew": """
skillweave brew --minutes 4
"""}


@dataclass(frozen=True, slots=True)
class Brewed(Portable):
    """Tea."""

    minutes: int
    skills: int


def brew(
    minutes: Annotated[int, option(OUTPUT, "--minutes N", "How long.", parser=whole_number)] = 3,
    *,
    loading: Loading,
) -> Answer:
    """Brew tea.

    With the skills that are named.
    """
    if minutes > 9:
        raise Mistake("the tea is bitter; brew it for fewer minutes")
    brewed = Brewed(minutes, len(loading.snapshot().active()))
    return Answer(lambda: brewed, lambda page: page.entry("brewed", f"for {brewed.minutes} minutes"))
'''
POTS = '''
from skillweave.commands import Answer
from guest_tea_brewing import Brewed

EXAMPLES = {"wash": """
skillweave pots wash
"""}


def wash() -> Answer:
    """Wash the pots."""
    return Answer(lambda: Brewed(0, 0), lambda page: "washed")
'''
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution: its name, its entry points in the group of commands, and its modules."""
    before = set(sys.modules)

    def installed(name: str, entry_points: dict[str, str], **modules: str) -> None:
        site = tmp_path / f"site-{name}"
        about = site / f"{name.replace('-', '_')}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        lines = "\n".join(f"{command} = {place}" for command, place in entry_points.items())
        (about / "entry_points.txt").write_text(f"[skillweave.commands]\n{lines}\n", encoding="utf-8")
        for module, text in modules.items():
            (site / f"{module}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(site)

    yield installed
    for name in set(sys.modules) - before:
        if name.startswith("guest_"):
            del sys.modules[name]


@pytest.fixture
def tea(install: Install) -> None:
    points = {"brew": "guest_tea:brew", "pots": "guest_tea:pots"}
    install("guest-tea", points, guest_tea=LIGHT, guest_tea_brewing=BREWING, guest_tea_pots=POTS)


@pytest.mark.usefixtures("tea")
def test_a_guests_command_runs_with_the_options_that_all_commands_share(cli: Any, small: Path) -> None:
    assert cli("brew", "--minutes", "4", "--skills", small).out == "brewed           for 4 minutes\n"
    assert cli("brew", "--skills", small, "--json").data == {"minutes": 3, "skills": 2}
    done = cli("brew", "--minutes", "10", "--json")
    assert (done.code, done.data["error"]["message"]) == (1, "the tea is bitter; brew it for fewer minutes")


@pytest.mark.usefixtures("tea")
def test_a_guest_may_bring_a_group_of_commands(cli: Any) -> None:
    assert cli("pots", "wash").out == "washed\n"
    assert "wash  Wash the pots." in cli("pots", "--help").out


@pytest.mark.usefixtures("tea")
def test_the_help_has_the_promises_of_guests_and_imports_none_of_their_commands(cli: Any) -> None:
    assert "\n  brew       Brew tea.\n" in cli("--help").out
    assert "guest_tea" in sys.modules
    assert "guest_tea_brewing" not in sys.modules


def test_our_own_commands_look_for_no_guest(install: Install, cli: Any) -> None:
    install("guest-bad", {"brew": "guest_bad:brew"}, guest_bad="raise RuntimeError")
    assert cli("schema", "--help").code == 0
    assert "guest_bad" not in sys.modules


@pytest.mark.usefixtures("tea")
def test_a_guests_answer_has_a_published_schema(cli: Any, small: Path) -> None:
    printed = json.loads(cli("brew", "--skills", small, "--json").out)
    assert printed["$schema"] == "urn:skillweave:schema:brew:1"
    assert set(cli("schema", "brew").data["properties"]) == {"$schema", "minutes", "skills"}
    assert cli("schema", "pots-wash").data["title"] == "pots-wash"


@pytest.mark.usefixtures("tea")
def test_a_guests_options_are_configured_like_our_own(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "skillweave.toml"
    file.write_text(f'skills = ["{small}"]\n[command.brew]\nminutes = 5\n', encoding="utf-8")
    assert cli("brew", "--json").data["minutes"] == 5
    assert cli("add").code == 0
    file.write_text("[command.brew]\nminuts = 5\n", encoding="utf-8")
    assert "did you mean 'minutes'?" in cli("brew").err


def test_a_guest_takes_none_of_our_names(install: Install, cli: Any) -> None:
    install("guest-shadow", {"weave": "guest_shadow:weave"}, guest_shadow=LIGHT.replace("brew =", "weave ="))
    assert "Say what to give to the model" in cli("weave", "--help").out
    why = "the command 'weave' of the package guest-shadow is not used, as skillweave brings one of that name"
    assert why in " ".join(cli("--help").out.split())
    found = [one for one in cli("doctor", "--json").data["findings"] if one["subject"] == "commands weave"]
    assert [(one["level"], one["message"], one["fix"]) for one in found] == [("problem", why, "uninstall guest-shadow")]


def test_a_stranger_takes_no_name_of_our_distributions(install: Install, cli: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("skillweave.cli.commands.OWN", {})
    monkeypatch.setattr("skillweave.cli.app.OWN", {})
    install("guest-tea", {"serve": "guest_tea:brew"}, guest_tea=LIGHT, guest_tea_brewing=BREWING)
    done = cli("serve")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "skillweave: the command 'serve' of the package guest-tea is not used, as skillweave-server brings one of that "
        "name; uninstall guest-tea\n"
    )


@pytest.mark.usefixtures("tea")
def test_of_two_guests_with_one_name_none_is_used(install: Install, cli: Any) -> None:
    install("guest-other", {"brew": "guest_other:brew"}, guest_other=LIGHT)
    done = cli("brew")
    assert done.code == 1
    assert "the package guest-tea is not used, as guest-other brings too one of that name" in done.err


@pytest.mark.parametrize("broken", ["raise RuntimeError('no kettle')", "brew = 3", ""])
def test_a_guest_that_cannot_be_loaded_stops_no_other_command(install: Install, cli: Any, broken: str) -> None:
    install("guest-bad", {"brew": "guest_bad:brew"}, guest_bad=broken)
    assert cli("schema").code == 0
    assert "reinstall guest-bad" in " ".join(cli("--help").out.split())
    done = cli("brew")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("skillweave: the command 'brew' cannot be loaded")


@pytest.fixture
def engine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no other distribution were installed."""
    ours = {name: spec for name, spec in OWN.items() if name not in ("serve", "eval")}
    for module in ("commands", "app"):
        monkeypatch.setattr(f"skillweave.cli.{module}.OWN", ours)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())


@pytest.mark.usefixtures("engine_alone")
@pytest.mark.parametrize("words", [("serve",), ("serve", "--help"), ("serve", "--port", "1")])
def test_a_command_whose_distribution_is_missing_says_which_one_brings_it(cli: Any, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        "skillweave: `skillweave serve` comes with skillweave-server, which is not installed; install"
    )
    assert "\n  skillweave-server  approvals, gateway, keys, serve\n" in cli("--help").out


@pytest.mark.usefixtures("engine_alone")
def test_a_table_for_a_command_that_is_not_installed_stops_no_other(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skillweave.toml").write_text("[command.serve]\nport = 80\n", encoding="utf-8")
    assert cli("add").code == 0


@pytest.mark.parametrize(
    ("noted", "told"),
    [
        ({"url": "file://{path}", "dir_info": {"editable": True}}, "install it: pip install {path}/packages/satellite"),
        (
            {
                "url": "https://me:hush@git.example/w.git",
                "vcs_info": {"vcs": "git", "commit_id": "abc123", "requested_revision": "main"},
            },
            'install it: pip install "satellite @ git+https://***@git.example/w.git@abc123#subdirectory=packages/satellite"',
        ),
        ({"url": "file://{path}/skillweave-1.0.whl", "archive_info": {}}, "install satellite from the same place"),
        (None, "install satellite from the same place as skillweave itself"),
    ],
)
def test_a_distribution_is_installed_from_where_the_engine_came(
    noted: dict[str, Any] | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packages" / "satellite").mkdir(parents=True)
    about = tmp_path / "skillweave-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: skillweave\nVersion: 1.0\n", encoding="utf-8")
    if noted is not None:
        text = json.dumps(noted).replace("{path}", str(tmp_path))
        (about / "direct_url.json").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(skillweave.distributions, "__file__", "/nowhere/lib/site-packages/skillweave/x.py")
    assert how_to_install("satellite").startswith(told.replace("{path}", str(tmp_path)))
