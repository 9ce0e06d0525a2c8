"""Pages of other models than the default one: other sizes, other features, other layers, and what they had learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kenyon import KenyonClassifier, Plastic, SecondOrder, Sparse
from kenyon.apps.teach import load_digits, write_page
from teach.driving import TeachPage

pytestmark = pytest.mark.browser

MODELS: dict[str, dict[str, Any]] = {
    "24 bits": {"memory_budget": "60KB", "shape": (8, 8), "layer": SecondOrder(bits=24, arithmetic="integer")},
    "few bits": {
        "rule": "mean",
        "shape": (10, 8),
        "features": Sparse(units=150, density=0.2),
        "layer": Plastic(bits=4, arithmetic="integer"),
    },
}


@pytest.mark.parametrize("name", MODELS)
def test_it_goes_on_with_the_same_bits(name: str, page: TeachPage, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="needs the extra 'teach'")
    options = MODELS[name]
    digits = load_digits(options["shape"])
    model = KenyonClassifier(random_state=3, **options)
    order = np.random.default_rng(0).permutation(len(digits.images))[:60]
    model.partial_fit(digits.images[order], digits.labels[order])
    path = tmp_path / "page.html"
    write_page(path, model)
    page.start(path)
    assert page.number("#Learned") == 60 and len(page.classes) == len(model.classes_)
    for _ in range(15):
        page.click("#Step")
    model.partial_fit(digits.images[:15], digits.labels[:15])
    saved = KenyonClassifier.load(page.save())
    for array, other in zip(saved.to_arrays().values(), model.to_arrays().values(), strict=True):
        assert (array == other).all()
    assert page.complaints() == []
    assert page.drop("again", page.save().read_bytes()).endswith("loaded.")
