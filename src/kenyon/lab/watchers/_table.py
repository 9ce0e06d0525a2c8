"""The table of logs, by name, and any class of your own as `module:Class` or `file.py:Class`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kenyon.errors import ConfigError, unknown
from kenyon.utils.events import Event, Watch
from kenyon.utils.options import is_outside
from kenyon.utils.outside import load_class


class Log(Watch):
    """A watch that logs one run; subclasses override the methods of `Watch` that they need.

    Args:
        folder: the run's folder; a log may write into a folder of its own in there.
        name: the run's name, which no other run shares.
        config: the run's configuration, as `RunConfig.to_dict` gives it.
        seed: the run's seed.

    Example:
        >>> from pathlib import Path
        >>> Log(Path("runs/a-run"), "a-run", {"learner": "ncm"}, seed=0).name
        'a-run'
    """

    def __init__(self, folder: Path, name: str, config: Mapping[str, Any], seed: int) -> None:
        self.folder, self.name, self.config, self.seed = folder, name, config, seed

    def note(self, event: Event) -> None:
        """Ignored: the display shows it."""


@dataclass(frozen=True)
class WatcherSpec:
    """A row of the table of logs: enough to list it without importing it.

    Example:
        >>> WATCHERS["tensorboard"].extra
        'tensorboard'
    """

    name: str
    target: str
    extra: str
    summary: str


WATCHERS: dict[str, WatcherSpec] = {
    spec.name: spec
    for spec in (
        WatcherSpec("logging", "kenyon.lab.watchers._logging:PythonLog", "", "Python's logger kenyon.RUN"),
        WatcherSpec(
            "tensorboard",
            "kenyon.lab.watchers._tensorboard:TensorBoardLog",
            "tensorboard",
            "event files in the folder tensorboard of each run",
        ),
        WatcherSpec(
            "mlflow",
            "kenyon.lab.watchers._mlflow:MLflowLog",
            "mlflow",
            "a database mlflow.db in the store, or your server",
        ),
        WatcherSpec(
            "wandb",
            "kenyon.lab.watchers._wandb:WandbLog",
            "wandb",
            "Weights & Biases, offline unless WANDB_MODE says else",
        ),
    )
}
"""The logs by name."""


def check_watcher(name: str) -> type[Log]:
    """The class of a log; an error where there is none, or where the program that it needs is not installed.

    Example:
        >>> check_watcher("kenyon.lab.watchers:Log").__name__
        'Log'
    """
    if not is_outside(name) and name not in WATCHERS:
        raise unknown("log", name, WATCHERS)
    cls = load_class(name if is_outside(name) else WATCHERS[name].target, "log")
    if not issubclass(cls, Watch):
        raise ConfigError(f"log = {name!r}: {cls.__name__} is not a subclass of kenyon.lab.watchers.Watch")
    return cls  # type: ignore[return-value]


def open_watcher(name: str, folder: Path, run: str, config: Mapping[str, Any], seed: int) -> Watch:
    """A log for one run.

    Args:
        name: a name of `WATCHERS`, or `module:Class` of your own, called with the arguments of `Log`.
        folder: the run's folder.
        run: the run's name.
        config: its configuration.
        seed: its seed.

    Example:
        >>> from pathlib import Path
        >>> open_watcher("kenyon.lab.watchers:Log", Path("runs/a-run"), "a-run", {}, seed=3).seed
        3
    """
    return check_watcher(name)(folder, run, config, seed)
