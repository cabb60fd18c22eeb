"""The files that are shipped: pieces that are in use, 4 and 8 bits a number, and their checksums."""

import hashlib
import json
import pickle
import re
import shutil
import subprocess
from collections import Counter

import numpy as np
from base import weights
from fetch import WORK
from sentencepiece import SentencePieceProcessor
from sentencepiece import sentencepiece_model_pb2 as protocol
from texts import documents_and_lines, translations

from skillweave_multilingual.encoder import LAYERS, PIECES, TABLE, packed_layers, packed_rows
from skillweave_multilingual.multilingual import ID, WEIGHTS

COMMONEST = 40_000
HINDI_SCORE = -12.0
"""About that of a word which stands once in 100,000: words are cut as words."""


def in_use(pieces: SentencePieceProcessor) -> Counter[int]:
    """In how many texts each piece stands."""
    documents, lines = documents_and_lines()
    texts = [*documents, *(line.text for line in lines)]
    texts += [text for messages in translations().values() for pair in messages.items() for text in pair]
    if shutil.which("apt-cache"):
        listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
        texts += re.findall(r"^Description(?:-en)?: (.*(?:\n .*)*)", listed, re.MULTILINE)
    return Counter(number for numbers in pieces.encode(texts) for number in set(numbers))


def main() -> None:
    """Write the weights into the package."""
    found, model = weights()
    table = found.pop("table")
    kept = protocol.ModelProto()
    kept.ParseFromString(model)
    old = list(kept.pieces)
    used = in_use(SentencePieceProcessor(model_proto=model))
    common = set(sorted(range(len(old)), key=lambda number: -old[number].score)[:COMMONEST])
    numbers = [
        number
        for number, piece in enumerate(old)
        if piece.type != 1 or number in common or used[number] > 1 or len(piece.piece) == 1
    ]
    words, rows = pickle.loads((WORK / "hindi.pickle").read_bytes())
    del kept.pieces[:]
    kept.pieces.extend(old[number] for number in numbers)
    for word in words:
        kept.pieces.add(piece=f"▁{word}", score=HINDI_SCORE, type=1)
    kept.trainer_spec.vocab_size = len(kept.pieces)
    packed, scales = packed_rows(np.concatenate([table[numbers], rows]))
    with np.load(WORK / "net.npz") as net:
        layers = found | {name: net[name] for name in net.files}
    WEIGHTS.mkdir(exist_ok=True)
    (WEIGHTS / PIECES).write_bytes(kept.SerializeToString())
    np.save(WEIGHTS / TABLE, packed)
    np.savez(WEIGHTS / LAYERS, table_scales=scales, **packed_layers(layers))
    sums = {name: hashlib.sha256((WEIGHTS / name).read_bytes()).hexdigest() for name in sorted((LAYERS, PIECES, TABLE))}
    (WEIGHTS / "checksums.json").write_text(json.dumps({"id": ID, "sha256": sums}, indent=2) + "\n")
    print(len(kept.pieces), "pieces,", sum(path.stat().st_size for path in WEIGHTS.iterdir()) // 1_000_000, "MB")


if __name__ == "__main__":
    main()
