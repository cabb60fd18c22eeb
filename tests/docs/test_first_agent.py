"""Each program of the first page is complete: copied by itself it runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from docs.tools.page import Page
from docs.tools.provider import LOCAL, scripted_provider
from docs.tools.run import DOCS, ROOT, SKILLS

PROGRAMS = [
    block.body
    for block in Page(DOCS / "first-agent.md").blocks
    if block.language == "python" and "import skillweave" in block.body
]


def test_there_is_a_program_for_each_kind_of_provider() -> None:
    assert [name for name in ("OpenAI()", "Anthropic()", LOCAL) if any(name in body for body in PROGRAMS)] == [
        "OpenAI()",
        "Anthropic()",
        LOCAL,
    ]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_of_the_first_page_runs_by_itself_and_the_model_has_a_skill(number: int, tmp_path: Path) -> None:
    (tmp_path / "skills").symlink_to(SKILLS)
    with scripted_provider() as address:
        keys = {"OPENAI_BASE_URL": f"{address}/v1", "ANTHROPIC_BASE_URL": address}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS[number].replace(LOCAL, address)],
            cwd=tmp_path,
            env={**keys, "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "skills: none" not in done.stdout
    assert "I have messages:" in done.stdout
