"""Data sets (files in, arrays out) and curricula (arrays in, episodes out)."""

from kenyon.streams._curriculum import SCENARIOS, Curriculum
from kenyon.streams._dataset import Dataset, Split
from kenyon.streams._load import DATASETS, load_dataset
from kenyon.streams._stream import Episode, Stream

__all__ = ["DATASETS", "SCENARIOS", "Curriculum", "Dataset", "Episode", "Split", "Stream", "load_dataset"]
