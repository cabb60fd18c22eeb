"""What the README shows in Python works; its commands are checked with those of all pages, in `test_pages`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from docs.tools.page import Page
from docs.tools.provider import scripted_provider
from docs.tools.run import ROOT, SKILLS


def test_the_client_and_the_function_of_the_readme_answer(tmp_path: Path) -> None:
    shutil.copytree(SKILLS, tmp_path / "skills")
    blocks = [block.body for block in Page(ROOT / "README.md").blocks if block.language == "python"]
    shown = (
        "\nimport asyncio\nprint(reply.choices[0].message.content)\nprint(asyncio.run(turn('Say bonjour to Alice')))\n"
    )
    script = "\n".join(blocks) + shown
    with scripted_provider() as address:
        env = {**os.environ, "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "none"}
        answer = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
    assert answer.stderr == ""
    assert "I have messages: 1, skills: Invoice Checking" in answer.stdout
    assert "=== Skill Activated: Multilingual Greetings ===" in answer.stdout
    assert "['multilingual-greetings: injected']" in answer.stdout


def test_the_readme_has_a_tour() -> None:
    sessions = [block.body for block in Page(ROOT / "README.md").blocks if block.language == "console"]
    assert sum(body.count("$ skillweave ") for body in sessions) >= 6
