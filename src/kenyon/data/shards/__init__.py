"""Large files learned in shards: each by some worker, the models merged in a tree.

>>> import numpy as np
>>> from kenyon.errors import DataError
>>> for part in range(3):
...     np.savez(f"part-{part}.npz", X=np.eye(9, dtype=np.uint8) * (100 + part), y=np.arange(9) % 3)
>>> options = {"layer": "second-order", "shape": [3, 3], "n_hidden": 20}
>>> learned = learn_files(LearnConfig(options=options), ["part-*.npz"], "model.safetensors")
>>> learned.rows, len(learned.shards), learned.exact, isinstance(learned, Learned)
(27, 3, True, True)
>>> "npz" in FORMATS, isinstance(learned.shards[0], Shard), issubclass(ShardError, DataError)
(True, True, True)
"""

from kenyon.data.shards._config import LearnConfig, read_learn_config
from kenyon.data.shards._formats import FORMATS
from kenyon.data.shards._learn import Learned, learn_files
from kenyon.data.shards._record import Shard, ShardError

__all__ = [
    "FORMATS",
    "LearnConfig",
    "Learned",
    "Shard",
    "ShardError",
    "learn_files",
    "read_learn_config",
]
