import pytest

from skillweave.registry import media_type_of
from skillweave.registry.source import is_text


@pytest.mark.parametrize(
    ("name", "media_type", "text"),
    [
        ("references/guide.md", "text/markdown", True),
        ("GUIDE.MD", "text/markdown", True),
        ("scripts/run.py", "text/x-python", True),
        ("scripts/run.ts", "text/plain", True),
        ("a.js", "text/javascript", True),
        ("data.json", "application/json", True),
        ("data.yaml", "application/yaml", True),
        ("drawing.svg", "image/svg+xml", True),
        ("logo.png", "image/png", False),
        ("form.pdf", "application/pdf", False),
        ("LICENSE", "application/octet-stream", False),
        ("archive.tar.strange", "application/octet-stream", False),
        (".md", "application/octet-stream", False),
    ],
)
def test_the_suffix_tells_the_type(name: str, media_type: str, text: bool) -> None:
    assert media_type_of(name) == media_type
    assert is_text(media_type) is text
