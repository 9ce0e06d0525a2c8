"""Workers and drivers that are killed: the work goes on, nothing is learned twice, the model is the same to the bit."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="needs the extra 'data'")

from kenyon.data.shards import learn_files
from kenyon.utils import events
from shards.files import CONFIG, parts, single_pass

DRIVER = """
import sys
from threading import Event
from kenyon.data.shards import learn_files
from kenyon.utils.events import Watch
from shards.files import CONFIG

class Hold(Watch):
    def finished(self, event):
        if event.done >= int(sys.argv[4]):
            print("in the middle", flush=True)
            Event().wait()  # for the kill

learn_files(CONFIG, [sys.argv[1]], sys.argv[2], workers=int(sys.argv[3]), watch=Hold())
"""


def start(pattern: str, out: Path, workers: int, after: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", DRIVER, pattern, str(out), str(workers), str(after)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


class Seen(events.Watch):
    def __init__(self) -> None:
        self.rows, self.found = 0, 0

    def planned(self, event: events.Event) -> None:
        self.found = event.done

    def finished(self, event: events.Event) -> None:
        self.rows += event.result


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills are POSIX's")
@pytest.mark.parametrize("workers, after", [(1, 1), (2, 5)])
def test_a_driver_that_is_killed_goes_on_where_it_was(workers: int, after: int, tmp_path: Path) -> None:
    X, y = parts(tmp_path, 8)
    out, pattern = tmp_path / "model", str(tmp_path / "part-*.parquet")
    with start(pattern, out, workers, after) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "in the middle\n"
        finally:
            process.kill()
    assert not out.exists()
    watch = Seen()
    learn_files(CONFIG, [pattern], out, watch=watch)
    assert watch.found >= after and watch.rows == 75 * (8 - watch.found), "a piece was learned twice or lost"
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills are POSIX's")
def test_workers_that_are_killed_cost_a_piece_each_at_most(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil", reason="needs the extra 'ray'")
    X, y = parts(tmp_path, 6)
    out, killed = tmp_path / "model", []

    class Kills(Seen):
        def finished(self, event: events.Event) -> None:
            super().finished(event)
            for child in psutil.Process().children() if len(killed) < 2 else ():
                if "spawn_main" in " ".join(child.cmdline()):
                    killed.append(child.pid)
                    child.kill()

    watch = Kills()
    learn_files(CONFIG, [str(tmp_path / "part-*.parquet")], out, workers=2, watch=watch)
    assert killed and watch.rows == len(y)
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")


class Killed(BaseException):
    """As sudden as a kill, for a test in one process."""


@pytest.mark.parametrize("last", ["merge_two", "replace_file", "content_of", "rmtree"])
def test_a_kill_between_the_last_files_learns_nothing_twice(last: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Killed after the merged model, after it took the place of the old one, before the record, and before the end."""
    from kenyon.data.shards import _learn

    X, y = parts(tmp_path, 4)
    files, out = sorted(tmp_path.glob("part-*")), tmp_path / "model"
    learn_files(CONFIG, files[:2], out)
    module = _learn.shutil if last == "rmtree" else _learn
    true = getattr(module, last)

    def then_die(*arguments: Any, **how: Any) -> Any:
        final = {"merge_two": lambda: "all" in arguments[-1], "replace_file": lambda: arguments[0] == out}
        final["rmtree"] = arguments[0].exists if last == "rmtree" else lambda: False
        now = final.get(last, lambda: True)()
        result = None if now and last == "rmtree" else true(*arguments, **how)
        if now:
            raise Killed
        return result

    with monkeypatch.context() as patch:
        patch.setattr(module, last, then_die)
        with pytest.raises(Killed):
            learn_files(CONFIG, files, out)
    assert (tmp_path / "model.work").exists()
    assert learn_files(CONFIG, files, out).rows == 0
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")
    assert not (tmp_path / "model.work").exists()


# ---- Ray


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


@pytest.mark.slow
def test_a_node_of_a_cluster_that_dies_half_way_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    X, y = parts(tmp_path, 8)
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()

    class KillsNode(Seen):
        def finished(self, event: events.Event) -> None:
            super().finished(event)
            if event.done == 4:
                cluster.remove_node(node, allow_graceful=False)

    watch = KillsNode()
    out = tmp_path / "model"
    learn_files(CONFIG, [str(tmp_path / "part-*.parquet")], out, engine="ray", address=cluster.address, watch=watch)
    assert watch.rows == len(y)
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")
