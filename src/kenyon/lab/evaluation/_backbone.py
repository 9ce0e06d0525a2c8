"""A backbone between a data set and the learner: images in, a data set of features out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kenyon.data.backbones import Pretrained
from kenyon.data.streams import Dataset, Split, content_sum, load_dataset
from kenyon.utils.events import Event, Watch
from kenyon.utils.system import find_data_dir

KEPT_OPEN = 4
_opened: dict[tuple[Any, ...], Dataset] = {}


class FeatureDataset(Dataset):
    """The features of another data set, memory-mapped.

    The training split is opened at once, the test split at its first use, so a run that tests on a part of the
    training set never shows the network a test image.

    Args:
        images: the data set behind it.
        backbone: makes the features.
        watch: is notified of progress.
    """

    def __init__(self, images: Dataset, backbone: Pretrained, watch: Watch) -> None:
        def features(which: str) -> Any:
            name = f"{images.name} {which}"
            split: Split = getattr(images, which)

            def report(done: int, total: int) -> None:
                watch(Event("progress", f"features of {name}", done=done, total=total, message="images"))

            return backbone.cached(split.X, f"{name} {backbone.label}", report)

        train = features("train")
        self.backbone_bytes: int = train.backbone_bytes
        super().__init__(
            images.name,
            (train.X.shape[1],),
            images.class_names,
            Split(train.X, images.train.y),
            lambda: Split(features("test").X, images.test.y),
            train.value_range,
        )


def with_backbone(
    dataset: Dataset, backbone: str | Mapping[str, Any], data_dir: Path | str | None, watch: Watch
) -> FeatureDataset:
    """The features of a data set's images, from the cache in the data directory.

    Example:
        >>> from kenyon.data.streams import load_dataset
        >>> from kenyon.lab import Watch
        >>> network = {"name": "efficientnet-lite0", "resolution": 32, "greyscale": "repeat"}
        >>> with_backbone(load_dataset("digits"), network, data_dir=None, watch=Watch()).shape
        (1280,)
    """
    return FeatureDataset(dataset, Pretrained(backbone, dataset.shape, dataset.value_range, data_dir=data_dir), watch)


def open_dataset(
    name: str,
    data_dir: Path | str | None = None,
    *,
    backbone: str | Mapping[str, Any] | None = None,
    label: str | None = None,
    domain: str | None = None,
    watch: Watch | None = None,
) -> Dataset:
    """Open a data set, or the features that a backbone makes of it, once per process.

    Both are memory-mapped where they can be, so processes share them. A file of your own that was edited is opened
    again.

    Args:
        name: a name or a path that `kenyon.data.streams.load_dataset` knows.
        data_dir: where the data sets are; None for the usual place.
        backbone: the frozen network, by name or as a table; None for the samples themselves.
        label: the label column of a table; None for "label".
        domain: the column of domains, see `load_dataset`.
        watch: is notified of images that go through the backbone.

    Example:
        >>> open_dataset("digits").shape
        (8, 8)
    """
    return open_once(name, data_dir, backbone, (label, domain), content_sum(name), watch)


def open_once(
    name: str,
    data_dir: Path | str | None,
    backbone: str | Mapping[str, Any] | None,
    columns: tuple[str | None, str | None],
    content: str | None,
    watch: Watch | None,
) -> Dataset:
    """`open_dataset`, with the columns of labels and domains, for a file whose `content_sum` is known."""
    where = find_data_dir(data_dir)  # two calls may mean two folders by None
    key = (name, str(where), json.dumps(backbone, sort_keys=True), columns, content)
    if (found := _opened.get(key)) is None:
        found = load_dataset(name, where, label=columns[0], domain=columns[1])
        if backbone:
            found = with_backbone(found, backbone, where, watch or Watch())
        while len(_opened) >= KEPT_OPEN:
            _opened.pop(next(iter(_opened)), None)
        _opened[key] = found
    return found


def backbone_bytes(dataset: Dataset) -> int:
    """Bytes of the frozen network behind a data set; 0 where there is none."""
    return dataset.backbone_bytes if isinstance(dataset, FeatureDataset) else 0
