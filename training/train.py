"""The second net: from what the base computes to how near the teacher finds texts."""

import pickle
import random

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from base import features
from fetch import WORK
from torch import nn

OUT, HIDDEN, SEEN = 256, 512, 1_792
STEPS, BATCH, RATE, DROPPED, SHARPNESS = 750, 256, 1.5e-3, 0.1, 20.0
RIDGE = 3e-3
OF_TRANSLATIONS = 0.4
"""How much a batch of translations counts beside one of English texts."""
KEPT = 0.6
"""Of each language's translations so large a part is used."""


class Net(nn.Module):
    """A linear map, which begins as the ridge regression, and a hidden layer beside it."""

    def __init__(self, slope: torch.Tensor, bias: torch.Tensor) -> None:
        super().__init__()
        self.skip, self.first, self.second = nn.Linear(SEEN, OUT), nn.Linear(SEEN, HIDDEN), nn.Linear(HIDDEN, OUT)
        self.skip.weight.data, self.skip.bias.data = slope.T.contiguous(), bias
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Vectors of length 1."""
        seen = F.dropout(seen, DROPPED, training=self.training)
        return F.normalize(self.skip(seen) + self.second(F.relu(self.first(seen))), dim=1)


def loss(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """How far vectors are from the wanted ones, and the likeness of the batch's texts from the wanted likeness."""
    own = torch.eye(len(found), dtype=torch.bool)
    ours, theirs = ((rows @ rows.T * SHARPNESS).masked_fill(own, -1e4) for rows in (found, wanted))
    alike = F.kl_div(F.log_softmax(ours, 1), F.softmax(theirs, 1), reduction="batchmean")
    return 5 * (1 - (found * wanted).sum(1)).mean() + alike


def main() -> None:
    """Write the net to `.work/net.npz`."""
    torch.manual_seed(0)
    rng = random.Random(5)
    several, translated = pickle.loads((WORK / "taught.pickle").read_bytes())
    texts = [text for part, _ in several.values() for text in part]
    seen, wanted = features(texts), torch.from_numpy(np.concatenate([rows for _, rows in several.values()]))
    mean = wanted.mean(0)
    axes = torch.linalg.svd(wanted - mean, full_matrices=False)[2][:OUT].T
    centred = seen - seen.mean(0)
    damping = RIDGE * len(seen) * torch.eye(SEEN)
    slope = torch.linalg.solve(centred.T @ centred + damping, centred.T @ (wanted - mean)) @ axes
    net = Net(slope, -seen.mean(0) @ slope).train()
    wanted = F.normalize((wanted - mean) @ axes, dim=1)
    messages, taught = several["messages"]
    pairs = [
        (translated[language][text], place)
        for language in sorted(translated)
        for place, text in enumerate(messages)
        if text in translated[language] and rng.random() < KEPT
    ]
    foreign, owner = features([text for text, _ in pairs], 48), torch.tensor([place for _, place in pairs])
    english = F.normalize((torch.from_numpy(taught) - mean) @ axes, dim=1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS, pct_start=0.1)
    for step in range(STEPS):
        some, others = torch.randint(len(seen), (BATCH,)), torch.randint(len(foreign), (BATCH,))
        whole = loss(net(seen[some]), wanted[some])
        whole = whole + OF_TRANSLATIONS * loss(net(foreign[others]), english[owner[others]])
        optimizer.zero_grad()
        whole.backward()
        optimizer.step()
        schedule.step()
        if step % 50 == 49:
            print(step + 1, round(float(whole.detach()), 3), flush=True)
    np.savez(
        WORK / "net.npz",
        near_1=net.first.weight.detach().numpy().T,
        near_bias_1=net.first.bias.detach().numpy(),
        near_2=net.second.weight.detach().numpy().T,
        near_bias_2=(net.second.bias + net.skip.bias).detach().numpy(),
        near_skip=net.skip.weight.detach().numpy().T,
        near_share=np.array([0.5], dtype=np.float32),
    )


if __name__ == "__main__":
    main()
