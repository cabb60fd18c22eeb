"""Every source passes the same contract."""

import json
from pathlib import Path

import pytest

from skillweave import Skill, Source
from skillweave.sources import InCode, Pack
from skillweave.sources.folder import Folder
from skillweave_testing import SourceContract
from skillweave_testing.sources import ARTIFACT, CONTENT

NOTES = {"id": ARTIFACT, "name": "notes.md", "content": CONTENT}
ENTRIES = [
    {"id": "alpha", "description": "First.", "metadata": {"a": ["b"]}, "artifacts": [NOTES]},
    {"id": "bad"},
    {"name": "omega", "description": "Last."},
]


class TestFolder(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> Source:
        for name, text in (
            ("alpha", "---\nname: alpha\ndescription: First.\nmetadata:\n  a: b\n---\nbody\n"),
            ("bad", "no front matter\n"),
            ("omega", "---\nname: omega\ndescription: Last.\n---\nbody\n"),
        ):
            (tmp_path / "skills" / name).mkdir(parents=True)
            (tmp_path / "skills" / name / "SKILL.md").write_text(text, encoding="utf-8")
        (tmp_path / "skills" / "alpha" / ARTIFACT).parent.mkdir()
        (tmp_path / "skills" / "alpha" / ARTIFACT).write_text(CONTENT, encoding="utf-8")
        return Folder(tmp_path / "skills")


class TestYamlPack(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> Source:
        path = tmp_path / "trades.yaml"
        path.write_text(
            "pack: {name: trades}\n"
            "skills:\n"
            "  - id: alpha\n"
            "    description: First.\n"
            "    artifacts:\n"
            f"      - {{id: {ARTIFACT}, name: notes.md, content: {json.dumps(CONTENT)}}}\n"
            "  - id: bad\n"
            "  - name: omega\n"
            "    description: Last.\n",
            encoding="utf-8",
        )
        return Pack(path)


class TestJsonPack(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> Source:
        path = tmp_path / "trades.json"
        path.write_text(json.dumps({"pack": {"name": "trades"}, "skills": ENTRIES}), encoding="utf-8")
        return Pack(path)


class TestMappingsInCode(SourceContract):
    @pytest.fixture
    def source(self) -> Source:
        return InCode(*ENTRIES)


class TestValuesInCode(SourceContract):
    @pytest.fixture
    def source(self) -> Source:
        return InCode(
            Skill("alpha", "Alpha", "First.", metadata={"a": {"b": ("c",)}}),
            Skill("not an id", "Bad", "Refused."),
            Skill("omega", "Omega", "Last."),
            artifacts={"alpha": {ARTIFACT: CONTENT}},
        )
