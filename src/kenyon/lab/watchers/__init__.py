"""What receives the events of a run: the base class, and those that log them to other programs.

>>> sorted(WATCHERS)
['logging', 'mlflow', 'tensorboard', 'wandb']
"""

from kenyon.lab.watchers._notebook import usual_watch
from kenyon.lab.watchers._table import WATCHERS, Log, WatcherSpec, check_watcher, open_watcher
from kenyon.utils.events import Event, Watch, Watches

__all__ = [
    "WATCHERS",
    "Event",
    "Log",
    "Watch",
    "WatcherSpec",
    "Watches",
    "check_watcher",
    "open_watcher",
    "usual_watch",
]
