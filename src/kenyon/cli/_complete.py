"""Shell completion of options: names from the tables, looked up when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def datasets(incomplete: str) -> list[str]:
    from kenyon.data.streams import list_datasets

    return _beginning(incomplete, [status.name for status in list_datasets()])


def scenarios(incomplete: str) -> list[str]:
    from kenyon.data.streams import SCENARIOS

    return _beginning(incomplete, SCENARIOS)


def learners(incomplete: str) -> list[str]:
    from kenyon.learners import LEARNERS

    return _beginning(incomplete, LEARNERS)


def presets(incomplete: str) -> list[str]:
    from kenyon.model.presets import preset_names

    return _beginning(incomplete, preset_names())


def logs(incomplete: str) -> list[str]:
    from kenyon.lab.watchers import WATCHERS

    return _beginning(incomplete, WATCHERS)


def rules(incomplete: str) -> list[str]:
    from kenyon.rules import RULES

    return _beginning(incomplete, RULES)


def metrics(incomplete: str) -> list[str]:
    from kenyon.lab.evaluation import METRICS

    return _beginning(incomplete, METRICS)


def among(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes from a fixed list of words."""

    def complete(incomplete: str) -> list[str]:
        return _beginning(incomplete, choices)

    return complete


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
