"""Memory does not grow with the number of skills that are stored."""

from pathlib import Path

import pytest

from benchmarks.seeding import measured

FEW = 400
DOCUMENT_BYTES = 50_000
"""Four times as many skills have 120 MB more of documents, so that a run that held them would show."""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.soak
def test_four_times_as_many_skills_take_hardly_more_memory(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def url(name: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path / name}"
        # One database for both: what is there already is not held either.
        server: str = request.getfixturevalue("postgres_url")
        return server

    few = measured(url("few.db"), FEW, document_bytes=DOCUMENT_BYTES)
    many = measured(url("many.db"), FEW * 4, document_bytes=DOCUMENT_BYTES)
    assert (few.inserted, few.unchanged) == (FEW, FEW)
    assert many.unchanged == FEW * 4
    assert many.peak_megabytes < few.peak_megabytes + 25
