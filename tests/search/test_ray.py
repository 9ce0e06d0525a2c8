"""A real Ray cluster of two nodes on this machine, one of which dies in the middle of a search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kenyon.search import DONE, Evaluation, SearchFolder, SearchWatch, make_objective, search

SPACE = '[rule]\nvalues = ["gen", "mse"]\n[n_hidden]\nlow = 100\nhigh = 300\n'


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray", reason="the engine 'ray' is an extra")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


class KillNode(SearchWatch):
    """Kills a node once three evaluations have ended."""

    def __init__(self, cluster: Any, node: Any) -> None:
        self.cluster, self.node = cluster, node
        self.kept: list[int] = []

    def ended(self, evaluation: Evaluation, running: int) -> None:
        self.kept.append(evaluation.number)
        if len(self.kept) == 3:
            self.cluster.remove_node(self.node, allow_graceful=False)


def test_a_node_that_dies_costs_no_finished_evaluation(cluster: Any, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    watch = KillNode(cluster, node)
    objective = make_objective("digits", max_per_task=60)
    result = search(
        objective,
        tmp_path,
        evals=10,
        method="random",
        space=SPACE,
        engine="ray",
        address=cluster.address,
        watch=watch,
    )
    assert len(result.evaluations) == 10
    assert sorted(e.number for e in result.evaluations) == list(range(10))
    assert [e.number for e in result.evaluations[:3]] == watch.kept[:3]
    assert [repr(e) for e in SearchFolder(tmp_path).evaluations()] != []
    assert all(e.outcome.status == DONE for e in result.evaluations)
