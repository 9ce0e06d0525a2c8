"""Data sets, streams, backbones, large files, and the protocol between a stream and a learner.

>>> stream = Curriculum("class-incremental").open(load_dataset("digits"))
>>> X, y = stream.episodes[0].train()
>>> X.shape[1], sorted(set(y.tolist()))
(64, [0, 1])

A name is imported when it is first used, so `import kenyon.data` loads none of the modules below.
"""

from typing import TYPE_CHECKING

from kenyon.utils.lazy import import_on_use

if TYPE_CHECKING:
    from kenyon.data.backbones import BACKBONES as BACKBONES
    from kenyon.data.backbones import BackboneConfig as BackboneConfig
    from kenyon.data.backbones import Pretrained as Pretrained
    from kenyon.data.protocol import Learner as Learner
    from kenyon.data.protocol import LearnerSpec as LearnerSpec
    from kenyon.data.protocol import StreamInfo as StreamInfo
    from kenyon.data.shards import LearnConfig as LearnConfig
    from kenyon.data.shards import Learned as Learned
    from kenyon.data.shards import ShardError as ShardError
    from kenyon.data.shards import learn_files as learn_files
    from kenyon.data.shards import read_learn_config as read_learn_config
    from kenyon.data.streams import DATASETS as DATASETS
    from kenyon.data.streams import SCENARIOS as SCENARIOS
    from kenyon.data.streams import Curriculum as Curriculum
    from kenyon.data.streams import Dataset as Dataset
    from kenyon.data.streams import Episode as Episode
    from kenyon.data.streams import Split as Split
    from kenyon.data.streams import Stream as Stream
    from kenyon.data.streams import download_dataset as download_dataset
    from kenyon.data.streams import from_arrays as from_arrays
    from kenyon.data.streams import list_datasets as list_datasets
    from kenyon.data.streams import load_dataset as load_dataset
    from kenyon.data.streams import verify_dataset as verify_dataset

_NAMES = {
    "streams": (
        "DATASETS SCENARIOS Curriculum Dataset Episode Split Stream download_dataset from_arrays "
        "list_datasets load_dataset verify_dataset"
    ),
    "backbones": "BACKBONES BackboneConfig Pretrained",
    "shards": "LearnConfig Learned ShardError learn_files read_learn_config",
    "protocol": "Learner LearnerSpec StreamInfo",
}
__all__, __getattr__ = import_on_use(__name__, _NAMES)
