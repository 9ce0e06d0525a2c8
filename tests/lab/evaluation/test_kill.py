"""Runs killed at random lines end with the same bits; processes that share a store do not disturb each other."""

from __future__ import annotations

import multiprocessing
import random
import signal
from multiprocessing.context import ForkServerContext
from pathlib import Path

import numpy as np
import pytest

from cases import slow
from evaluation.workers import content, make_config, run_seeds, run_with_many_checkpoints
from kenyon.lab.evaluation import RunFolder, Store, run
from waiting import wait_until

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
def processes() -> ForkServerContext:
    """Processes forked from a small server that has the imports done, so that a kill costs little."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evaluation.workers", "evaluation.tiny", "sklearn.datasets"])
    return context


CONFIGS = [
    make_config(max_per_task=60),
    make_config("task-incremental", max_per_task=40, labelled=0.5),
    make_config("task-free", max_per_task=30, epochs=1.5),
]


@pytest.mark.parametrize("seed", [2, *(slow(seed) for seed in (0, 1, *range(3, 9)))])
def test_killed_at_random_lines_ends_with_the_same_bits(
    seed: int, processes: ForkServerContext, tmp_path: Path
) -> None:
    config, rng, kills = CONFIGS[seed % 3], random.Random(seed), 0
    n_lines = run_with_many_checkpoints(config, seed, tmp_path / "whole")
    while True:
        how = (config, seed, tmp_path / "killed", None, rng.randrange(1, n_lines))
        process = processes.Process(target=run_with_many_checkpoints, args=how)
        process.start()
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL, f"the run failed with exit code {process.exitcode}"
        kills += 1
    assert kills
    whole, killed = (Store(tmp_path / name).folder(config, seed) for name in ("whole", "killed"))
    assert content(killed) == content(whole)
    assert {path.name for path in killed.path.iterdir()} == LEFT


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


def held_at(gate: Path) -> list[Path]:
    """What `Tiny` left where it waits, one file a process."""
    return list(gate.parent.glob(f"{gate.name}-*"))


def test_processes_share_the_seeds_out(processes: ForkServerContext, tmp_path: Path) -> None:
    config, seeds, gate = make_config(max_per_task=40), [0, 1, 2, 3], tmp_path / "gate"
    answers, store = processes.Queue(), tmp_path / "store"
    workers = [processes.Process(target=run_seeds, args=(config, seeds, store, gate, answers)) for _ in range(3)]
    for worker in workers:
        worker.start()
    wait_until(lambda: len(held_at(gate)) == 3)  # no process is idle while seeds are free
    gate.touch()
    got = [answers.get() for _ in workers]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    started, hashes = zip(*got, strict=True)
    assert sorted(seed for own in started for seed in own) == seeds, "a seed was run twice or not at all"
    assert all(own == hashes[0] for own in hashes)
    for seed in seeds:
        run(config, [seed], tmp_path / "alone")
        assert content(Store(store).folder(config, seed)) == content(Store(tmp_path / "alone").folder(config, seed))


def test_one_takes_over_from_another_that_was_killed(processes: ForkServerContext, tmp_path: Path) -> None:
    config, gate = make_config(max_per_task=60), tmp_path / "gate"
    folder = Store(tmp_path).folder(config, 0)
    first = processes.Process(target=run_with_many_checkpoints, args=(config, 0, tmp_path, gate))
    first.start()
    wait_until(lambda: held_at(gate))
    assert folder.busy and folder.file("checkpoint.safetensors").exists()
    second = processes.Process(target=run_with_many_checkpoints, args=(config, 0, tmp_path))
    second.start()
    first.kill()
    second.join()
    assert second.exitcode == 0
    assert not folder.busy
    run(config, [0], tmp_path / "whole")
    assert content(folder) == content(Store(tmp_path / "whole").folder(config, 0))


def test_curves_that_fell_behind_their_checkpoint_start_over(processes: ForkServerContext, tmp_path: Path) -> None:
    """After a loss of power the checkpoint may be there and the curves not: nothing wrong may come of it."""
    config, gate = make_config(max_per_task=60), tmp_path / "gate"
    folder: RunFolder = Store(tmp_path).folder(config, 0)
    worker = processes.Process(target=run_with_many_checkpoints, args=(config, 0, tmp_path, gate))
    worker.start()
    wait_until(lambda: held_at(gate))
    worker.kill()
    worker.join()
    assert folder.file("checkpoint.safetensors").exists() and folder.file("prequential.npy").stat().st_size > 200
    with open(folder.file("prequential.npy"), "r+b") as file:
        file.truncate(130)
    run(config, [0], tmp_path)
    run(config, [0], tmp_path / "whole")
    assert content(folder) == content(Store(tmp_path / "whole").folder(config, 0))
    assert len(np.load(folder.file("prequential.npy"))) == 300
