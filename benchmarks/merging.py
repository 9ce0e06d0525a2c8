"""Large files on one worker and on two: speed, memory of a worker, equality to the bit; and a Ray node that is killed.

    python benchmarks/write_shards.py shards --samples 200000
    python benchmarks/merging.py shards
    python benchmarks/merging.py shards --ray         on two local Ray nodes, one of them killed half-way

Each turn is a `kenyon learn` of its own, one worker and two in turn, with nothing else on the machine; the ratio is
that of the medians. The seconds of the processors say what a busy machine hides: two workers share out what one does
alone. Memory is the largest that any process of the turn held, in the first half of the time and in the second.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from kenyon.data.shards import LearnConfig, learn_files, read_learn_config
from kenyon.utils.events import Event, Watch

CONFIG = """
seed = 0
classes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

[options]
layer = "second-order"
shape = [28, 28]
n_hidden = 250
"""


THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""A worker is one thread, also where it is the only one."""


class Memory(threading.Thread):
    """Watches what the processes below one hold: (seconds, bytes of the largest)."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        self._process, self.seen = process, list[tuple[float, int]]()

    def run(self) -> None:
        begin, root = time.perf_counter(), psutil.Process(self._process.pid)
        while self._process.poll() is None:
            try:
                family = [root, *root.children(recursive=True)]
                largest = max(one.memory_info().rss for one in family)
                self.seen.append((time.perf_counter() - begin, largest))
            except psutil.Error:
                pass  # it ended meanwhile
            time.sleep(0.2)


def turn(config: Path, pattern: str, out: Path, workers: int) -> dict[str, Any]:
    """One `kenyon learn` from the beginning."""
    words = [sys.executable, "-m", "kenyon.cli", "learn", str(config), "--data", pattern, "--out", str(out), "--json"]
    begin, used = time.perf_counter(), _cpu_seconds()
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    process = subprocess.Popen([*words, "--workers", str(workers)], stdout=subprocess.PIPE, env=environment)
    memory = Memory(process)
    memory.start()
    answer, _ = process.communicate()
    seconds = time.perf_counter() - begin
    memory.join()
    if process.returncode:
        sys.exit(process.returncode)
    halves = [[size for at, size in memory.seen if (at < seconds / 2) == early] for early in (True, False)]
    first, second = (max(sizes, default=0) for sizes in halves)
    rows, cpu = json.loads(answer)["rows"], _cpu_seconds() - used
    return {"seconds": seconds, "cpu": cpu, "first": first, "second": second, "rows": rows}


def _cpu_seconds() -> float:
    """Of all processes that were started here and have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compare(pattern: str, folder: Path, turns: int) -> None:
    """One worker and two, in turn."""
    config = folder / "learn.toml"
    config.write_text(CONFIG)
    found: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for number in range(turns):
        for workers, seen in found.items():
            seen.append(turn(config, pattern, folder / f"{number}-{workers}.safetensors", workers))
            last = seen[-1]
            print(
                f"{workers} worker(s): {last['rows']:,} samples in {last['seconds']:.1f} s, "
                f"{last['rows'] / last['seconds']:,.0f} samples/s, {last['cpu']:.1f} s of the processors; the "
                f"largest process {last['first'] / 2**20:.0f} MiB in the first half, {last['second'] / 2**20:.0f} MiB "
                "in the second",
                flush=True,
            )
    one, two = (median(each["seconds"] for each in found[workers]) for workers in (1, 2))
    files = {path.read_bytes() for path in folder.glob("*.safetensors")}
    work = median(each["cpu"] for each in found[2]) / median(each["cpu"] for each in found[1])
    print(f"two workers are {one / two:.2f} times as fast as one, with {work:.2f} times the work of the processors")
    print(f"all models equal to the bit: {len(files) == 1}")


class KillsNode(Watch):
    """Kills a node of the cluster once half of the pieces have been learned."""

    def __init__(self, cluster: Any, node: Any) -> None:
        self._cluster, self._node = cluster, node

    def finished(self, event: Event) -> None:
        if self._node is not None and event.done >= event.total // 2:
            self._cluster.remove_node(self._node, allow_graceful=False)
            self._node = None
            print(f"a node was killed after {event.done} of {event.total} pieces", flush=True)


def on_ray(pattern: str, folder: Path) -> None:
    """Two nodes of one CPU each, one of which dies half-way; then one local worker."""
    from ray.cluster_utils import Cluster

    (folder / "learn.toml").write_text(CONFIG)
    config: LearnConfig = read_learn_config(folder / "learn.toml")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    begin = time.perf_counter()
    watch = KillsNode(cluster, node)
    learn_files(config, [pattern], folder / "ray", engine="ray", address=cluster.address, watch=watch)
    print(f"finished on Ray in {time.perf_counter() - begin:.1f} s", flush=True)
    cluster.shutdown()
    learn_files(config, [pattern], folder / "alone")
    same = (folder / "ray").read_bytes() == (folder / "alone").read_bytes()
    print(f"equal to one worker's model to the bit: {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the shards are")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--ray", action="store_true")
    arguments = parser.parse_args()
    pattern = str(arguments.folder / "part-*.parquet")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.ray:
            on_ray(pattern, Path(folder))
        else:
            compare(pattern, Path(folder), arguments.turns)


if __name__ == "__main__":
    main()
