"""GPUs as a resource of a Ray cluster, one sweep on it, and no GPU where there is none.

Ray counts what a node says it has, so that a machine without a GPU can stand for one with two.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kenyon.errors import ConfigError, KenyonError
from kenyon.lab.sweeps import sweep
from kenyon.utils.parallel import Pool, Workers
from parallel.jobs import visible_gpus


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray", reason="needs the extra 'ray'")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 4, "num_gpus": 1, "include_dashboard": False})
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.slow
def test_each_job_gets_its_share_of_a_gpu(cluster: Any, tmp_path: Path) -> None:
    with Pool(Workers(None, "ray", cluster.address, 0.5)) as pool:
        assert pool.capacity == 2, "two share the one GPU, whatever the number of processors"
        for number in range(4):
            pool.submit(number, visible_gpus, number)
        assert [answer.result() for answer in pool.answers()] == [["0"]] * 4
    values = {"dataset": "digits", "learner": ["ncm", "slda"], "max_per_task": 20, "seeds": 2}
    result = sweep(values, tmp_path, engine="ray", address=cluster.address, gpus=0.5)
    assert not result.failures and len(result.reports) == 2
    with Pool(Workers(None, "ray", cluster.address)) as pool:
        assert pool.capacity == 4


@pytest.mark.slow
def test_a_cluster_without_a_gpu_is_named(cluster: Any) -> None:
    ray = pytest.importorskip("ray", reason="needs the extra 'ray'")
    ray.init(address=cluster.address, logging_level="ERROR")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray, "cluster_resources", lambda: {"CPU": 4.0})
        with pytest.raises(KenyonError, match=r"0.5 of a GPU, and the cluster has none"):
            Pool(Workers(None, "ray", cluster.address, 0.5))


@pytest.mark.parametrize(
    ("engine", "gpus", "words"), [("local", 1.0, "only the engine 'ray'"), ("ray", -1.0, "from 0 up")]
)
def test_gpus_that_mean_nothing_are_refused(engine: str, gpus: float, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Workers(1, engine, None, gpus)
