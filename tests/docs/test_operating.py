"""What the page for operators and the files of `deploy/` name is really there."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from skillweave.cli.app import load_command
from skillweave_server.commands import SERVE
from skillweave_server.meters import Meters

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "operating.md").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
ELSEWHERE = {"--rdb", "--appendonly", "--no-owner", "--scope", "--name", "--store", "--check", "--ledger"}
"""Options of other programs on the page, and of other commands than `serve`."""


def names_of_figures() -> set[str]:
    """As a scrape shows them."""
    return {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in Meters().registry.collect()
        if family.name.startswith("skillweave_")
    }


def options_of_serve() -> set[str]:
    return {name for option in load_command("serve", SERVE).params for name in option.opts}


def test_the_page_for_operators_names_every_figure_and_no_other() -> None:
    assert set(re.findall(r"`(skillweave_\w+)`", PAGE)) == names_of_figures()


def test_every_option_on_the_page_for_operators_is_one_of_serve() -> None:
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) - ELSEWHERE <= options_of_serve()


@pytest.mark.parametrize("replica", ["replica-1", "replica-2"])
def test_every_variable_of_a_replica_configures_serve(replica: str) -> None:
    names = COMPOSE["services"][replica]["environment"]
    ours = {name for name in names if name.startswith("SKILLWEAVE_")}
    assert ours
    assert {f"--{name.removeprefix('SKILLWEAVE_').lower().replace('_', '-')}" for name in ours} <= options_of_serve()


def test_the_image_installs_extras_and_distributions_that_there_are() -> None:
    recipe = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    asked = re.search(r"'\.\[([\w,]+)\]'", recipe)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert asked
    assert set(asked[1].split(",")) <= set(project["optional-dependencies"])
    assert [name for name in re.findall(r" \./(packages/[\w-]+)", recipe) if not (ROOT / name).is_dir()] == []


def test_the_proxy_knows_the_replicas_and_no_other_server() -> None:
    config = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    replicas = {name for name in COMPOSE["services"] if name.startswith("replica-")}
    assert set(re.findall(r"^\s+server ([\w-]+):8321 ", config, re.MULTILINE)) == replicas
