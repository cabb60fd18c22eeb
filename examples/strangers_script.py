"""A skill of a stranger, from `add` through approval to a run of its script in a sandbox.

The stranger's archive is written here, so that this runs anywhere. Needs the package skillweave-trust, and bubblewrap
or sandlock; where neither is here, it says how to install one.

    python examples/strangers_script.py
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import skillweave
from skillweave_trust import ScriptRefused, Scripts, open_trusted, runner_of

SKILL = """---
name: word-count
description: Counts the words of a text that the user pastes.
---
Run `scripts/count.py` with the text as its only argument and tell the user the number.
"""
SCRIPT = """import pathlib, sys
words = len(sys.argv[1].split())
pathlib.Path("count.txt").write_text(f"{words}\\n")
print(words, "words")
"""


def command(*words: str) -> None:
    """Types a command, as the user does."""
    print("$ skillweave", *(word if " " not in word else f"'{word}'" for word in words))
    done = subprocess.run([sys.executable, "-m", "skillweave", *words], capture_output=True, text=True, check=True)
    print(done.stdout.rstrip())


async def main(folder: Path) -> None:
    """Plays it through in an empty folder, which is also that of the user's settings."""
    os.chdir(folder)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "settings")
    with zipfile.ZipFile("stranger.zip", "w") as archive:
        archive.writestr("word-count/SKILL.md", SKILL)
        archive.writestr("word-count/scripts/count.py", SCRIPT)
    command("add", "stranger.zip", "--in", "skills")

    async with skillweave.open("trusted://skills") as weaver:
        held = await weaver.tools.read_skill("word-count", conversation="c1")
        print("model reads:", held.text)
    command("scan", "skills")
    command("approve", "word-count", "--skills", "skills")

    source = open_trusted("skills")
    async with skillweave.open(source) as weaver:
        given = await weaver.tools.read_skill("word-count", conversation="c2")
        print("model reads:", given.text.splitlines()[-2 if given.text.endswith("\n") else -1])
        try:
            scripts = Scripts(source, runner_of("sandbox"), source.approvals)
        except ScriptRefused as refused:
            print("no script is run:", refused)
            return
        skills = {skill.id: skill for skill in (await weaver.skills.snapshot()).active()}
        call = {"skill_id": "word-count", "path": "scripts/count.py", "arguments": ["bonjour tout le monde"]}
        text, _ = await scripts.call(skills, call)
        print("tool answers:", text)
        command(
            "approve", "word-count", "--skills", "skills", "--run", "scripts/count.py", "--", "bonjour tout le monde"
        )
        for _ in range(2):
            text, _ = await scripts.call(skills, call)
            print("tool answers:", text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        asyncio.run(main(Path(empty)))
