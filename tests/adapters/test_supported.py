"""An adapter is used with the versions of its framework that it was tested with, or not at all."""

import pytest

from skillweave.adapters.supported import require_version
from skillweave.errors import MissingExtra


@pytest.mark.parametrize(
    ("package", "extra"),
    [
        ("agent-framework-core", "agent-framework"),
        ("langchain", "langchain"),
        ("langgraph", "langgraph"),
        ("openai-agents", "openai-agents"),
        ("pydantic-ai-slim", "pydantic-ai"),
    ],
)
def test_the_installed_release_is_a_supported_one(package: str, extra: str) -> None:
    require_version(package, extra)


def test_a_package_that_is_not_installed_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtra, match=r"skillweave\[langchain\]"):
        require_version("no-such-framework", "langchain")
