"""Runs killed at random moments end with the same bits; processes that share a store do not disturb each other."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerContext
from pathlib import Path

import numpy as np
import pytest

from evaluation.workers import content, make_config, run_seeds, run_with_many_checkpoints
from kenyon.evaluation import RunConfig, RunFolder, Store, run

LEFT = {
    "accuracy_matrix.csv",
    "config.toml",
    "environment.json",
    "lock",
    "metrics.json",
    "prequential.npy",
    "run.json",
    "weights.npy",
}


@pytest.fixture(scope="module")
def processes() -> Iterator[ForkServerContext]:
    """Processes forked from a small server that has the imports done, so that a kill costs little."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evaluation.workers", "evaluation.tiny", "sklearn.datasets"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # the server finds what this process finds
        yield context


def kill_until_complete(
    context: ForkServerContext, config: RunConfig, seed: int, store: Path, longest: float, rng: random.Random
) -> tuple[int, int]:
    """Start the run and kill it after a random time, again and again; how often, and how often in mid-run."""
    folder, in_mid_run = Store(store).folder(config, seed), 0
    for kills in range(200):
        ready = context.Event()
        process = context.Process(target=run_with_many_checkpoints, args=(config, seed, store, ready))
        process.start()
        assert ready.wait(60)
        process.join(rng.uniform(0.0, longest))
        if process.exitcode is None:
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        if process.exitcode == 0:
            return kills, in_mid_run
        assert process.exitcode == -signal.SIGKILL, f"the run failed with exit code {process.exitcode}"
        in_mid_run += folder.file("checkpoint.safetensors").exists()
    raise AssertionError("the run did not come to an end in 200 starts")


def time_of(context: ForkServerContext, config: RunConfig, store: Path) -> float:
    """Seconds that the run takes when nobody kills it; kills are spread over that time on any machine."""
    ready = context.Event()
    process = context.Process(target=run_with_many_checkpoints, args=(config, 0, store, ready))
    process.start()
    assert ready.wait(60)
    start = time.perf_counter()
    process.join()
    return time.perf_counter() - start


def test_killed_at_random_moments_ends_with_the_same_bits(processes: ForkServerContext, tmp_path: Path) -> None:
    rng, kills, in_mid_run = random.Random(20), 0, 0
    configs = [
        make_config(max_per_task=60, delay=0.002),
        make_config("task-incremental", max_per_task=40, labelled=0.5, delay=0.002),
        make_config("task-free", max_per_task=30, epochs=1.5, delay=0.002),
    ]
    longest = 0.6 * time_of(processes, configs[0], tmp_path / "timed")
    for seed in range(30):
        config = configs[seed % len(configs)]
        run(config, [seed], tmp_path / "whole")
        more = kill_until_complete(processes, config, seed, tmp_path / "killed", longest, rng)
        kills, in_mid_run = kills + more[0], in_mid_run + more[1]
        whole, killed = (Store(tmp_path / name).folder(config, seed) for name in ("whole", "killed"))
        assert content(killed) == content(whole)
        assert {path.name for path in killed.path.iterdir()} == LEFT
        if seed + 1 >= len(configs) and kills >= 24 and in_mid_run >= 12:
            return
    raise AssertionError(f"only {kills} kills, {in_mid_run} of them between the first checkpoint and the end")


@pytest.mark.parametrize("leftover", [".metrics.json.123.tmp", ".tmpEAa3hK", "checkpoint.safetensors"])
def test_what_a_kill_left_beside_a_complete_run_goes(leftover: str, tmp_path: Path) -> None:
    config = make_config(max_per_task=10)
    run(config, [0], tmp_path)
    folder = Store(tmp_path).folder(config, 0)
    before = content(folder)
    folder.file(leftover).write_bytes(b"half")
    run(config, [0], tmp_path)
    assert content(folder) == before
    assert {path.name for path in folder.path.iterdir()} == LEFT


def test_processes_share_the_seeds_out(processes: ForkServerContext, tmp_path: Path) -> None:
    config, seeds = make_config(max_per_task=40, delay=0.002), [0, 1, 2, 3]
    barrier, answers = processes.Barrier(3), processes.Queue()
    workers = [processes.Process(target=run_seeds, args=(config, seeds, tmp_path, barrier, answers)) for _ in range(3)]
    for worker in workers:
        worker.start()
    got = [answers.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    started, hashes = zip(*got, strict=True)
    assert sorted(seed for own in started for seed in own) == seeds, "a seed was run twice or not at all"
    assert all(len(own) >= 1 for own in started), "a process stood idle while seeds were free"
    assert all(own == hashes[0] for own in hashes)
    for seed in seeds:
        run(config, [seed], tmp_path / "alone")
        assert content(Store(tmp_path).folder(config, seed)) == content(Store(tmp_path / "alone").folder(config, seed))


def test_one_takes_over_from_another_that_was_killed(processes: ForkServerContext, tmp_path: Path) -> None:
    config = make_config(max_per_task=60, delay=0.003)
    folder = Store(tmp_path).folder(config, 0)
    workers = []
    for _ in range(2):
        ready = processes.Event()
        worker = processes.Process(target=run_with_many_checkpoints, args=(config, 0, tmp_path, ready))
        worker.start()
        assert ready.wait(60)
        workers.append(worker)
        while not folder.file("checkpoint.safetensors").exists():
            time.sleep(0.002)
    assert folder.busy
    assert workers[1].is_alive()
    os.kill(workers[0].pid, signal.SIGKILL)  # type: ignore[arg-type]
    workers[1].join(60)
    assert workers[1].exitcode == 0
    assert not folder.busy
    run(config, [0], tmp_path / "whole")
    assert content(folder) == content(Store(tmp_path / "whole").folder(config, 0))


def test_curves_that_fell_behind_their_checkpoint_start_over(processes: ForkServerContext, tmp_path: Path) -> None:
    """After a loss of power the checkpoint may be there and the curves not: nothing wrong may come of it."""
    config = make_config(max_per_task=60, delay=0.003)
    folder: RunFolder = Store(tmp_path).folder(config, 0)
    ready = processes.Event()
    worker = processes.Process(target=run_with_many_checkpoints, args=(config, 0, tmp_path, ready))
    worker.start()
    while not (folder.file("checkpoint.safetensors").exists() and folder.file("prequential.npy").stat().st_size > 200):
        time.sleep(0.002)
    worker.kill()
    worker.join()
    with open(folder.file("prequential.npy"), "r+b") as file:
        file.truncate(130)
    run(config, [0], tmp_path)
    run(config, [0], tmp_path / "whole")
    assert content(folder) == content(Store(tmp_path / "whole").folder(config, 0))
    assert len(np.load(folder.file("prequential.npy"))) == 300
