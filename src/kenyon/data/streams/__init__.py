"""Data sets (files in, arrays out) and curricula (arrays in, episodes out).

>>> "digits" in DATASETS, "class-incremental" in SCENARIOS
(True, True)
>>> stream = Curriculum("class-incremental").open(load_dataset("digits"))
>>> X, y = stream.episodes[0].train()
"""

from kenyon.data.streams._arrays import from_arrays
from kenyon.data.streams._curriculum import SCENARIOS, Curriculum
from kenyon.data.streams._dataset import Dataset, Split
from kenyon.data.streams._download import download_dataset
from kenyon.data.streams._episodes import from_episodes
from kenyon.data.streams._inventory import Check, DatasetStatus, list_datasets, verify_dataset
from kenyon.data.streams._load import DATASETS, canonical_name, content_sum, load_dataset
from kenyon.data.streams._stream import Episode, Stream

__all__ = [
    "DATASETS",
    "SCENARIOS",
    "Check",
    "Curriculum",
    "Dataset",
    "DatasetStatus",
    "Episode",
    "Split",
    "Stream",
    "canonical_name",
    "content_sum",
    "download_dataset",
    "from_arrays",
    "from_episodes",
    "list_datasets",
    "load_dataset",
    "verify_dataset",
]
