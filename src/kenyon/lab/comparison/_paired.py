"""Paired differences: two configurations on the same streams, seed by seed.

A seed decides the stream and the learner, so two configurations with the same seed have met the same samples in the
same order, and their difference says more than two means do. Runs are paired where data set, curriculum, seed and the
classes of every task are the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, DataError, unknown
from kenyon.lab.comparison._ranks import Ranks, rank_streams
from kenyon.lab.comparison._select import pick_groups
from kenyon.lab.evaluation import METRICS, RunGroup, RunResult, distinguishing
from kenyon.utils.statistics import t_quantile, t_tail

TESTS = ("t", "permutation")
_EXACT = 16
"""Up to this many seeds, every change of signs is counted."""
_DRAWS = 100_000
_OF_LEARNER = ("learner", "version", "options", "tuned", "sources", "weights_every")


@dataclass(frozen=True)
class Pair:
    """Two configurations on one stream.

    Attributes:
        first, second: their names.
        stream: the stream's name.
        seeds: the seeds that both have.
        means: the mean of each over these seeds.
        difference: the mean of first minus second; the first is higher where it is above 0.
        interval: where that mean lies at the level asked for, by Student's t; None for one seed.
        p: how often chance alone would give a difference as large; None for one seed.
        p_holm: the same, with regard to how many pairs were tested together (Holm, 1979).

    Example:
        >>> Pair("a", "b", "digits", (0, 1), (0.9, 0.8), 0.1, (0.05, 0.15), 0.04, 0.04).difference
        0.1
    """

    first: str
    second: str
    stream: str
    seeds: tuple[int, ...]
    means: tuple[float, float]
    difference: float
    interval: tuple[float, float] | None
    p: float | None
    p_holm: float | None = None


@dataclass(frozen=True)
class Comparison:
    """Every pair on every stream, and ranks over the streams where there are at least two.

    Example:
        >>> Comparison("accuracy", 0.95, "t", (), None).level
        0.95
    """

    metric: str
    level: float
    test: str
    pairs: tuple[Pair, ...]
    ranks: Ranks | None


def compare(
    groups: Sequence[RunGroup],
    names: Sequence[str] = (),
    *,
    metric: str = "accuracy",
    level: float = 0.95,
    test: str = "t",
) -> Comparison:
    """Compare configurations pair by pair.

    Args:
        groups: the runs, by configuration.
        names: two or more: a learner, or a learner with values of its options (`kenyon,rule=gen`), each of which
            has to stand for one configuration per stream. By default every learner.
        metric: what is compared.
        level: of the confidence intervals.
        test: `"t"` for the paired t-test, or `"permutation"` for the test that changes the signs of the differences,
            which assumes less and needs more seeds (six for p below 0.05).

    Example:
        >>> from pathlib import Path
        >>> from kenyon.lab.evaluation import RunConfig, Store, group_runs, run_all
        >>> _ = run_all([RunConfig("digits", name) for name in ("ncm", "slda")], seeds=[0, 1], store="runs")
        >>> pair = compare(group_runs(Store(Path("runs")).runs()).groups, ["slda", "ncm"]).pairs[0]
        >>> pair.interval[0] <= pair.difference <= pair.interval[1]
        True
    """
    if metric not in METRICS:
        raise unknown("metric", metric, METRICS)
    if test not in TESTS:
        raise unknown("test", test, TESTS)
    if not 0 < level < 1:
        raise ConfigError(f"level is {level}: expected a number between 0 and 1, such as 0.95")
    complete = [group for group in groups if group.complete and not group.outdated]
    names = list(dict.fromkeys(names or (str(group.config["learner"]) for group in complete)))
    if len(names) < 2:
        raise ConfigError(f"names is {list(names)!r}: expected two or more configurations to compare")
    streams: dict[str, dict[str, RunGroup]] = {}
    labels: dict[str, str] = {}
    for name in names:
        for stream, group in _by_stream(complete, name).items():
            streams.setdefault(stream, {})[name] = group
            labels[stream] = _stream_name(group)
    pairs = []
    for stream, members in streams.items():
        label = labels[stream] if list(labels.values()).count(labels[stream]) == 1 else f"{labels[stream]} {stream}"
        for first, second in combinations([name for name in names if name in members], 2):
            pair = _pair(first, second, label, members, metric, level, test)
            pairs += [pair] if pair else []
    if not pairs:
        raise DataError(f"no stream has runs of two of {', '.join(names)} with the same seed: there is nothing to pair")
    whole = {
        s: [_mean(members[name], metric) for name in names]
        for s, members in streams.items()
        if len(members) == len(names)
    }
    ranks = rank_streams(
        names, {labels[s]: means for s, means in whole.items()}, METRICS[metric].lower_is_better, 1 - level
    )
    return Comparison(metric, level, test, tuple(_holm(pairs)), ranks)


def _by_stream(groups: Sequence[RunGroup], name: str) -> dict[str, RunGroup]:
    """The configuration that a name stands for on each stream."""
    found: dict[str, list[RunGroup]] = {}
    for group in pick_groups(groups, name):
        found.setdefault(_stream_key(group), []).append(group)
    if not found:
        known = sorted({str(group.config["learner"]) for group in groups})
        raise unknown("configuration", name, known)
    for members in found.values():
        if len(members) > 1:
            key = next(iter(distinguishing(members)), "options")
            example = f"{name},{key}={members[0].value(key)}"
            raise ConfigError(
                f"{name!r} stands for {len(members)} configurations on {_stream_name(members[0])}: say which by a "
                f"value of {', '.join(distinguishing(members)) or 'an option'}, such as {example}"
            )
    return {stream: members[0] for stream, members in found.items()}


def _stream_key(group: RunGroup) -> str:
    values = {key: value for key, value in group.values.items() if key not in _OF_LEARNER}
    return json.dumps(values, sort_keys=True)


def _stream_name(group: RunGroup) -> str:
    return ", ".join(group.stream)


def _mean(group: RunGroup, metric: str) -> float:
    mean = group.report.summary(metric).mean
    return math.nan if mean is None else mean


def _pair(
    first: str, second: str, stream: str, members: dict[str, RunGroup], metric: str, level: float, test: str
) -> Pair | None:
    ours = {result.seed: result for _, result in members[first].complete}
    theirs = {result.seed: result for _, result in members[second].complete}
    seeds = [seed for seed in ours if seed in theirs and _same_stream(ours[seed], theirs[seed])]
    values = [(ours[seed].metrics[metric], theirs[seed].metrics[metric]) for seed in seeds]
    if not seeds or any(a is None or b is None for a, b in values):
        return None
    a, b = np.array(values, np.float64).T
    d = a - b
    interval = p = None
    if len(d) > 1:
        interval = _interval(d, level)
        p = _t_test(d) if test == "t" else _permutation_test(d)
    return Pair(first, second, stream, tuple(seeds), (float(a.mean()), float(b.mean())), float(d.mean()), interval, p)


def _same_stream(one: RunResult, other: RunResult) -> bool:
    return (one.tasks, one.n_train, one.n_test) == (other.tasks, other.n_train, other.n_test)


def _interval(d: NDArray[np.float64], level: float) -> tuple[float, float]:
    half = t_quantile((1 + level) / 2, len(d) - 1) * float(d.std(ddof=1)) / math.sqrt(len(d))
    return float(d.mean()) - half, float(d.mean()) + half


def _t_test(d: NDArray[np.float64]) -> float:
    error = float(d.std(ddof=1)) / math.sqrt(len(d))
    if error <= 1e-12 * max(1.0, float(np.abs(d).max())):  # every seed gave the same difference
        return 1.0 if abs(float(d.mean())) <= 1e-12 else 0.0
    return 2 * t_tail(abs(float(d.mean())) / error, len(d) - 1)


def _permutation_test(d: NDArray[np.float64]) -> float:
    """The share of changes of signs whose mean is at least as far from 0; every change, or many by chance."""
    if len(d) <= _EXACT:
        bits = np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1
    else:
        bits = np.random.default_rng(0).integers(0, 2, (_DRAWS, len(d)))
    means = np.abs((1.0 - 2.0 * bits) @ d)
    far = np.count_nonzero(means >= abs(float(d.sum())) * (1 - 1e-12))
    return float(far / len(bits) if len(d) <= _EXACT else (far + 1) / (len(bits) + 1))


def _holm(pairs: Sequence[Pair]) -> list[Pair]:
    """Holm's correction: each p times the number of p values at least as large, kept monotonic."""
    order = sorted((i for i, pair in enumerate(pairs) if pair.p is not None), key=lambda i: pairs[i].p or 0.0)
    adjusted, largest = list(pairs), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * (pairs[i].p or 0.0)))
        adjusted[i] = replace(pairs[i], p_holm=largest)
    return adjusted
