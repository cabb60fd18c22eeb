"""The worked examples of the source documents, with their figures beside ours."""

from pathlib import Path

import pytest

import skillweave
from skillweave import CatalogMode, Injection, Settings

SKILLS = Path(__file__).parents[2] / "examples" / "skills"
SYSTEM_PROMPT = 1000
"""Tokens of the base prompt that seed 004 assumes beside the skills."""


def turn(message: str) -> Injection:
    weaver = skillweave.open(SKILLS, settings=Settings(catalog=CatalogMode.FALLBACK))
    return weaver.sync.weave(message, conversation="c").measured_against(weaver.sync.skills.tokens_of_everything())


@pytest.mark.parametrize(("message", "seed_percent"), [("What is 2+2?", 66), ("Calculate pi", 66)])
def test_an_unrelated_request_of_seed_004_injects_no_skill_text(message: str, seed_percent: int) -> None:
    injection = turn(message)
    assert (injection.messages, injection.tokens.injected) == ((), 0)
    assert injection.fallback is not None and len(injection.fallback.text.splitlines()) == 1
    assert reduction(injection) >= seed_percent


def test_the_greeting_of_seed_004_injects_exactly_one_skill() -> None:
    injection = turn("Say bonjour to Alice")
    assert injection.skills == ("multilingual-greetings",)
    assert len(injection.messages) == 1
    assert reduction(injection) >= 31


def reduction(injection: Injection) -> float:
    """Seed 004's figure: the request with everything loaded, against the request as it is sent now."""
    assert injection.tokens.everything is not None
    before = SYSTEM_PROMPT + injection.tokens.everything
    after = SYSTEM_PROMPT + injection.tokens.catalog + injection.tokens.injected
    percent = 100 * (1 - after / before)
    print(f"{injection.skills or 'no skill'}: {before} -> {after} tokens, {percent:.0f}% less")
    return percent


@pytest.mark.parametrize("trigger", ["greet", "hello", "bonjour", "hola", "greeting"])
def test_each_trigger_of_seed_004_finds_its_skill(trigger: str) -> None:
    triggers = ["greet", "hello", "bonjour", "hola", "greeting"]
    weaver = skillweave.open({"id": "hello-extended", "description": "d", "triggers": {"keywords": triggers}})
    assert weaver.sync.weave(f"please {trigger.upper()} Alice", conversation="c").skills == ("hello-extended",)
