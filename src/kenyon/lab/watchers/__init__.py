"""Who gets told about a run while it runs: the base class, and those that pass it on to other programs.

>>> sorted(WATCHERS)
['mlflow', 'tensorboard', 'wandb']
"""

from kenyon.lab.watchers._table import WATCHERS, Log, WatcherSpec, check_watcher, open_watcher
from kenyon.lab.watchers._watch import Watch, Watches

__all__ = ["WATCHERS", "Log", "Watch", "WatcherSpec", "Watches", "check_watcher", "open_watcher"]
