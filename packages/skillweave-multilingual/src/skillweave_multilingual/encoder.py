"""A small sentence encoder in numpy: pieces of words, what stands beside each, their mean, one vector (spec 2.4).

The architecture is that of the Universal Sentence Encoder, multilingual, version 3: vectors of word pieces, three
branches of two convolutions each over 2, 3 and 5 neighbouring pieces, the normalised mean of all, and a residual net.
Beside it stands a second, smaller net over the same means, which was trained on what another model finds alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor
    from threadpoolctl import ThreadpoolController

Floats: TypeAlias = NDArray[np.float32]
Stored: TypeAlias = NDArray[np.float32] | NDArray[np.int8]

TABLE, LAYERS, PIECES = "table.npy", "layers.npz", "pieces.model"
"""The files of an encoder: packed vectors of word pieces, everything else, and how text is cut into pieces."""
MOST_CHARACTERS = 4_000
MOST_PIECES = 256
"""What is longer is cut."""
PIECES_AT_ONCE = 1_024
"""Texts are computed together up to so many pieces: more would leave the processor's cache."""
GROUP = 64
"""So many neighbouring numbers of a packed vector share one scale."""
BRANCHES = ((2, 0), (3, 1), (5, 2))
"""The convolutions: how many pieces each sees, and how many of these stand before its own."""
GAP = 4
"""So many rows of zeros between two texts keep every window inside its own text."""
SCALE = ".scale"
SMALL = np.float32(1e-12)


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """The weights of an encoder, ready to compute; one may be used from several threads."""

    pieces: "SentencePieceProcessor"
    table: NDArray[np.uint8]
    scales: NDArray[np.float16]
    layers: dict[str, Floats]

    @classmethod
    def load(cls, folder: Path) -> "Encoder":
        """The encoder in a folder; its table is mapped, not read.

        Raises OSError when a file is missing, and ImportError without the package `sentencepiece`.
        """
        from sentencepiece import SentencePieceProcessor

        pieces = SentencePieceProcessor(model_file=str(folder / PIECES))
        with np.load(folder / LAYERS, allow_pickle=False) as stored:
            layers = {name: stored[name] for name in stored.files}
        scales = layers.pop("table_scales")
        return cls(pieces, np.load(folder / TABLE, mmap_mode="r"), scales, unpacked_layers(layers))

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(sum(self.layers[name].shape[1] for name in ("out_3", "near_2") if name in self.layers))

    def encode(self, texts: Sequence[str]) -> Floats:
        """One vector of length 1 for each text, in their order."""
        found = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # Threads cost a short text more than they bring, ten times more where other work has the other cores.
        with _threads().limit(limits=1, user_api="blas"):
            for first, batch in _batches([self._cut(text) for text in texts]):
                found[first : first + len(batch)] = self._head(self._means(batch), batch)
        return found

    def _cut(self, text: str) -> list[int]:
        numbers: list[int] = self.pieces.encode(text[:MOST_CHARACTERS], add_bos=True, add_eos=True)
        return numbers[:MOST_PIECES]

    def _means(self, batch: Sequence[Sequence[int]]) -> Floats:
        """The mean over each text of what was computed for its pieces."""
        layers = self.layers
        lengths = [len(numbers) for numbers in batch]
        inside = np.zeros(sum(lengths) + GAP * len(batch), dtype=bool)
        starts: list[int] = []
        place = 0
        for length in lengths:
            starts.append(place)
            inside[place : place + length] = True
            place += length + GAP
        looked_up = np.zeros((len(inside), self.table.shape[1] * 2), dtype=np.float32)
        looked_up[inside] = self._rows([number for numbers in batch for number in numbers])
        outside = ~inside
        parts = [looked_up]
        for width, before in BRANCHES:
            seen = looked_up @ layers[f"enter_{width}"] + layers[f"enter_bias_{width}"]
            seen = _normalised(seen, layers[f"norm_{width}"], layers[f"norm_bias_{width}"])
            for step in (1, 2):
                seen[outside] = 0
                beside = _windows(seen, width, before) @ layers[f"beside_{width}_{step}"]
                beside += layers[f"beside_bias_{width}_{step}"]
                np.maximum(beside, 0, out=beside)
                seen = seen + beside
            parts.append(seen)
        whole = _normalised(np.concatenate(parts, axis=1), layers["norm"], layers["norm_bias"])
        whole[outside] = 0
        sums: Floats = np.add.reduceat(whole, starts, axis=0)
        return sums / np.array(lengths, dtype=np.float32)[:, None]

    def _rows(self, numbers: Sequence[int]) -> Floats:
        packed = self.table[numbers]
        values = np.empty((len(packed), packed.shape[1] * 2), dtype=np.float32)
        values[:, 0::2] = packed & 15
        values[:, 1::2] = packed >> 4
        values -= 8
        values *= np.repeat(self.scales[numbers].astype(np.float32), GROUP, axis=1)
        return values

    def _head(self, means: Floats, batch: Sequence[Sequence[int]]) -> Floats:
        layers = self.layers
        root = np.sqrt(np.array([len(numbers) for numbers in batch], dtype=np.float32))[:, None]
        mixed = (means @ layers["mix"] + layers["mix_bias"]) * root
        first = np.maximum(mixed @ layers["in_0"], 0)
        second = np.maximum(mixed @ layers["skip_1"] + first @ layers["in_1"], 0)
        third = np.maximum(second @ layers["in_2"], 0)
        vector = _of_length_1(np.tanh(second @ layers["skip_3"] + third @ layers["out_3"]))
        if "near_2" not in layers:
            return vector
        both = np.concatenate([means, vector], axis=1)
        hidden = np.maximum(both @ layers["near_1"] + layers["near_bias_1"], 0)
        near = _of_length_1(both @ layers["near_skip"] + hidden @ layers["near_2"] + layers["near_bias_2"])
        share = layers["near_share"]  # of the cosine of two vectors
        joined: Floats = np.concatenate([vector * np.sqrt(1 - share), near * np.sqrt(share)], axis=1)
        return joined


@cache
def _threads() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def packed_rows(rows: Floats) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Rows of numbers as 4 bits each, with a scale for each group; what `Encoder` unpacks again."""
    groups = rows.reshape(len(rows), -1, GROUP)
    scales = _best_scales(groups)
    divided = groups / np.maximum(scales.astype(np.float32), 1e-8)[:, :, None]
    numbers = (np.clip(np.rint(divided), -8, 7) + 8).astype(np.uint8).reshape(len(rows), -1)
    packed: NDArray[np.uint8] = (numbers[:, 0::2] | (numbers[:, 1::2] << 4)).astype(np.uint8)
    return packed, scales


def packed_layers(layers: Mapping[str, Floats]) -> dict[str, Stored]:
    """Matrices as 8 bits with a scale for each column; vectors stay as they are."""
    stored: dict[str, Stored] = {}
    for name, values in layers.items():
        if values.ndim == 1:
            stored[name] = values.astype(np.float32)
            continue
        scale = np.maximum(np.abs(values).max(axis=0) / 127, 1e-8).astype(np.float32)
        stored[name] = np.rint(values / scale).astype(np.int8)
        stored[name + SCALE] = scale
    return stored


def unpacked_layers(stored: Mapping[str, Stored]) -> dict[str, Floats]:
    """What `packed_layers` was given, as near as 8 bits are."""
    layers: dict[str, Floats] = {}
    for name, values in stored.items():
        if not name.endswith(SCALE):
            exact = values.astype(np.float32)
            layers[name] = exact * stored[name + SCALE].astype(np.float32) if values.ndim == 2 else exact
    return layers


def _best_scales(groups: NDArray[np.float32]) -> NDArray[np.float16]:
    """For each group the scale, of a few, that loses least."""
    largest = np.abs(groups).max(axis=2)
    best = np.full(largest.shape, np.inf, dtype=np.float32)
    chosen = np.zeros(largest.shape, dtype=np.float16)
    for share in (1.0, 0.9, 0.8, 0.7):
        scale = (largest * share / 7.5).astype(np.float16)
        divided = groups / np.maximum(scale.astype(np.float32), 1e-8)[:, :, None]
        kept = np.clip(np.rint(divided), -8, 7) * scale.astype(np.float32)[:, :, None]
        lost = np.square(kept - groups).sum(axis=2)
        better = lost < best
        best[better], chosen[better] = lost[better], scale[better]
    return chosen


def _batches(texts: Sequence[list[int]]) -> Iterator[tuple[int, Sequence[list[int]]]]:
    first = held = 0
    for place, numbers in enumerate(texts):
        if held and held + len(numbers) > PIECES_AT_ONCE:
            yield first, texts[first:place]
            first, held = place, 0
        held += len(numbers)
    if held:
        yield first, texts[first:]


def _windows(rows: Floats, width: int, before: int) -> Floats:
    padded = np.pad(rows, ((before, width - 1 - before), (0, 0)))
    side_by_side: Floats = np.concatenate([padded[place : place + len(rows)] for place in range(width)], axis=1)
    return side_by_side


def _normalised(rows: Floats, gain: Floats, bias: Floats) -> Floats:
    rows = rows - rows.mean(axis=1, keepdims=True)
    rows *= 1 / np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + SMALL)[:, None]
    rows *= gain
    rows += bias
    return rows


def _of_length_1(rows: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    scaled: Floats = rows / np.maximum(lengths, SMALL)
    return scaled
