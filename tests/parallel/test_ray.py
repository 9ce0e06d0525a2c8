"""A real Ray cluster of two nodes on this machine, one of which dies in the middle of the work; and one of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from evaluation.workers import make_config
from kenyon.lab.evaluation import run
from kenyon.lab.search import DONE, SearchFolder, make_objective, search
from kenyon.utils.events import Event, Watch
from kenyon.utils.parallel import WorkerDiedError, Workers
from parallel.jobs import die, double, fail, perform

SPACE = '[rule]\nvalues = ["gen", "mse"]\n[n_hidden]\nlow = 100\nhigh = 300\n'


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray", reason="needs the extra 'ray'")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


class KillNode(Watch):
    """Kills a node once three evaluations have ended."""

    def __init__(self, cluster: Any, node: Any) -> None:
        self.cluster, self.node = cluster, node
        self.kept: list[int] = []

    def finished(self, event: Event) -> None:
        self.kept.append(event.result.number)
        if len(self.kept) == 3:
            self.cluster.remove_node(self.node, allow_graceful=False)


@pytest.mark.slow
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


class KillNodeOfRun(Watch):
    """Kills a node once a seed has ended."""

    def __init__(self, cluster: Any, node: Any) -> None:
        self.cluster, self.node = cluster, node
        self.seeds: list[int] = []

    def finished(self, event: Event) -> None:
        self.seeds.append(event.result.seed)
        if len(self.seeds) == 1:
            self.cluster.remove_node(self.node, allow_graceful=False)


@pytest.mark.slow
def test_a_node_that_dies_changes_no_run(cluster: Any, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    watch, config, seeds = KillNodeOfRun(cluster, node), make_config(max_per_task=100), [0, 1, 2, 3]
    report = run(config, seeds, tmp_path, engine="ray", address=cluster.address, watch=watch)
    assert sorted(watch.seeds) == seeds
    alone = run(config, seeds)
    assert [result.seed for result in report.results] == seeds
    assert [result.state_sha256 for result in report.results] == [result.state_sha256 for result in alone.results]
    assert report.accuracy_matrix == alone.accuracy_matrix
    assert run(config, seeds, tmp_path).results == report.results


@pytest.mark.slow
def test_a_job_that_kills_its_worker_is_reported(cluster: Any) -> None:
    jobs = {"dies": (die,), "bad": (fail, "no"), "good": (double, 4)}
    answers = perform(jobs, Workers(engine="ray", address=cluster.address))
    assert isinstance(answers["dies"].error, WorkerDiedError)
    assert str(answers["dies"].error).startswith("its worker died")
    assert str(answers["bad"].error) == "no"
    assert answers["good"].result() == 8


OWN = """
import json, psutil
from kenyon.utils.parallel import Pool, Workers
from parallel.jobs import double

with Pool(Workers(2, "ray")) as pool:
    pool.submit("a", double, 4)
    answer = [a.result() for a in pool.answers()]
    me = psutil.Process()
    family = {me.pid, *(child.pid for child in me.children(recursive=True))}
    heard = [c for c in psutil.net_connections("inet") if c.status == "LISTEN" and c.pid in family]
    print(json.dumps([answer, pool.capacity, sorted({c.laddr.ip for c in heard})]))
"""


@pytest.mark.slow
def test_a_cluster_of_our_own_listens_to_this_machine_only(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra 'ray'")
    pytest.importorskip("psutil", reason="needs the extra 'ray'")
    done = subprocess.run([sys.executable, "-c", OWN], capture_output=True, text=True, check=True)
    answer, capacity, addresses = json.loads(done.stdout)
    assert (answer, capacity) == ([8], 2)
    assert addresses
    assert all(ip_address(address.removeprefix("::ffff:")).is_loopback for address in addresses)
    assert done.stderr == ""
