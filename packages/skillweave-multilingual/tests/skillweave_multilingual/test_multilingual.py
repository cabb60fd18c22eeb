import asyncio
import hashlib
import json
import time

import numpy as np
import pytest

from skillweave.embedders import embedder_of
from skillweave.errors import SkillweaveError
from skillweave.text.embedding import Embedder
from skillweave_multilingual.encoder import Encoder
from skillweave_multilingual.multilingual import ID, WEIGHTS, MultilingualEmbedder
from skillweave_testing.embedders import EmbedderContract

SKILLS = {
    "press-release": "Writes press releases and other announcements for journalists.",
    "database-schema": "Designs database schemas: tables, keys and indexes.",
    "vacation": "Plans holiday trips with flights, hotels and sights.",
    "invoice": "Creates invoices for customers and checks the tax on them.",
}
REQUESTS = (
    ("press-release", "Schreib bitte eine Pressemitteilung über unser neues Produkt"),
    ("database-schema", "データベースのテーブルを設計してください"),
    ("vacation", "Quiero planear un viaje a Roma con hotel y vuelos"),
    ("invoice", "Il faut faire une facture pour un client"),
    ("vacation", "帮我规划一次去东京的旅行"),
    ("vacation", "Roma için uçak ve otelle bir tatil planla"),
    ("database-schema", "zaprojektuj tabele bazy danych"),
    ("invoice", "ग्राहक के लिए बिल बनाइए"),
    ("vacation", "मेरी यात्रा की योजना बनाओ, होटल और उड़ान के साथ"),
)


class TestMultilingualEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, multilingual: MultilingualEmbedder) -> Embedder:
        return multilingual


def test_the_weights_are_those_that_the_list_of_checksums_names() -> None:
    stated = json.loads((WEIGHTS / "checksums.json").read_text())
    assert stated["id"] == ID
    for name, digest in stated["sha256"].items():
        assert hashlib.sha256((WEIGHTS / name).read_bytes()).hexdigest() == digest, name


def test_every_piece_has_a_row_in_the_table() -> None:
    pytest.importorskip("sentencepiece")
    encoder = Encoder.load(WEIGHTS)
    assert encoder.pieces.get_piece_size() == len(encoder.table) == len(encoder.scales)


@pytest.mark.parametrize(("skill", "request_"), REQUESTS)
def test_a_request_in_another_language_is_nearest_to_the_english_skill(
    multilingual: MultilingualEmbedder, skill: str, request_: str
) -> None:
    rows = asyncio.run(multilingual.embed([request_, *SKILLS.values()]))
    assert list(SKILLS)[int((rows[1:] @ rows[0]).argmax())] == skill


def test_the_same_text_has_the_very_same_vector(multilingual: MultilingualEmbedder) -> None:
    text = ["Fix the failing build"]
    first, again = asyncio.run(multilingual.embed(text)), asyncio.run(multilingual.embed(text))
    assert np.array_equal(first, again)


def test_what_stands_beyond_the_limit_does_not_count(multilingual: MultilingualEmbedder) -> None:
    long = "word " * 2_000
    first, other = asyncio.run(multilingual.embed([long, long + "something else"]))
    assert np.allclose(first, other, atol=1e-6)  # two texts of one batch may differ by rounding


def test_the_loop_goes_on_while_much_is_embedded(multilingual: MultilingualEmbedder) -> None:
    async def both() -> int:
        task = asyncio.ensure_future(multilingual.embed(["Reviews code for mistakes. " * 8] * 60))
        ticks, begun = 0, time.monotonic()
        while not task.done() and time.monotonic() - begun < 60:
            await asyncio.sleep(0.001)
            ticks += 1
        await task
        return ticks

    assert asyncio.run(both()) > 1


def test_it_is_found_by_its_name() -> None:
    pytest.importorskip("sentencepiece")
    assert embedder_of("multilingual").id == ID


def test_it_takes_no_model_after_its_name() -> None:
    with pytest.raises(SkillweaveError, match="one model"):
        embedder_of("multilingual:large")


def test_an_unknown_name_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(SkillweaveError, match="multilingual, openai, sentence-transformers"):
        embedder_of("nothing-like-it")


def test_what_is_no_embedder_is_refused() -> None:
    with pytest.raises(SkillweaveError, match="no method `embed`"):
        embedder_of(3)  # type: ignore[arg-type]
