"""Damaged checkpoints, foreign files and a full disk: named, never taken for results, never a traceback."""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from cases import slow
from evaluation.workers import Interrupted, content, make_config
from kenyon.data.streams import Curriculum, load_dataset
from kenyon.errors import DataError
from kenyon.lab.evaluation import RunConfig, RunFolder, Store, run, run_dataset
from kenyon.lab.evaluation._checkpoint import _sum, read_checkpoint
from kenyon.utils.events import Event, Watch

CONFIG = make_config(max_per_task=20)


class Notes(Watch):
    """Keeps notes, and may stop the run after a task."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.notes: list[str] = []
        self.begun: list[int] = []
        self.stop_after = stop_after

    def note(self, event: Event) -> None:
        self.notes.append(event.message)

    def opened(self, event: Event) -> None:
        self.begun.append(event.tally.learned)

    def tested(self, event: Event) -> None:
        if event.tally.row == self.stop_after:
            raise Interrupted


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    """The checkpoint of a run that was stopped, and a folder of two stores: its own, and that of the whole run."""
    path = tmp_path_factory.mktemp("stopped")
    checkpoint = stop(path / "runs", CONFIG).file("checkpoint.safetensors").read_bytes()
    run(CONFIG, [0], path / "whole")
    return checkpoint, path


def stop(store: Path, config: RunConfig) -> RunFolder:
    folder = Store(store).folder(config, 0)
    often = {"checkpoint_seconds": 0.0, "checkpoint_share": math.inf}
    with folder.locked(wait=True), pytest.raises(Interrupted):
        run_dataset(config, 0, load_dataset("digits"), folder=folder, watch=Notes(stop_after=3), **often)
    return folder


def again(stopped: tuple[bytes, Path], store: Path, **files: bytes) -> RunFolder:
    """The run that was stopped, in another store, with other files in place of some."""
    shutil.copytree(stopped[1] / "runs", store, dirs_exist_ok=True)
    folder = Store(store).folder(CONFIG, 0)
    for name, written in files.items():
        folder.file(name.replace("_", ".")).write_bytes(written)
    return folder


def resume(stopped: tuple[bytes, Path], tmp_path: Path, checkpoint: bytes) -> tuple[Notes, RunFolder]:
    """Put another checkpoint in the place of the one that the run left, and go on."""
    folder, watch = again(stopped, tmp_path / "runs", checkpoint_safetensors=checkpoint), Notes()
    run(CONFIG, [0], tmp_path / "runs", watch=watch)
    return watch, folder


def same_as_whole(folder: RunFolder, stopped: tuple[bytes, Path]) -> bool:
    return content(folder) == content(Store(stopped[1] / "whole").folder(CONFIG, 0))


@pytest.mark.parametrize("every", [11, slow(1)])
def test_a_flipped_bit_anywhere_is_noticed(stopped: tuple[bytes, Path], tmp_path: Path, every: int) -> None:
    """One bit of every 11th byte of the header, and fewer after it: the checkpoint is refused, or it is the same."""
    checkpoint, rng = stopped[0], random.Random(3)
    path, run_id = tmp_path / "c.safetensors", CONFIG.run_id(0)
    path.write_bytes(checkpoint)
    original = read_checkpoint(path, run_id)
    assert original is not None
    refused, header = 0, 8 + int.from_bytes(checkpoint[:8], "little")
    places = [*range(0, header, every), *range(header, len(checkpoint), 13 * every)]
    for place in places:
        damaged = bytearray(checkpoint)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            state, tally = read_checkpoint(path, run_id)  # type: ignore[misc]
        except DataError as error:
            refused += 1
            assert str(path) in str(error)
        else:
            assert all(np.array_equal(state[name], array) for name, array in original[0].items())
            assert np.array_equal(tally.correct, original[1].correct) and tally.learned == original[1].learned
    assert refused > 0.98 * len(places), "only the blanks that fill up the header may be anything"


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9, 0.999])
def test_a_run_with_a_damaged_checkpoint_starts_over_and_says_so(
    stopped: tuple[bytes, Path], tmp_path: Path, share: float
) -> None:
    damaged = bytearray(stopped[0])
    damaged[int(share * len(damaged))] ^= 16
    watch, folder = resume(stopped, tmp_path, bytes(damaged))
    assert watch.begun == [0]
    assert len(watch.notes) == 1
    assert str(folder.file("checkpoint.safetensors")) in watch.notes[0] and "starts over" in watch.notes[0]
    assert same_as_whole(folder, stopped)


@pytest.mark.parametrize("checkpoint", [b"", b"not a checkpoint", b"\xff" * 4096], ids=["empty", "text", "noise"])
def test_a_file_that_is_no_checkpoint(stopped: tuple[bytes, Path], tmp_path: Path, checkpoint: bytes) -> None:
    watch, folder = resume(stopped, tmp_path, checkpoint)
    assert watch.begun == [0] and len(watch.notes) == 1
    assert same_as_whole(folder, stopped)


def test_a_whole_checkpoint_is_gone_on_from(stopped: tuple[bytes, Path], tmp_path: Path) -> None:
    watch, folder = resume(stopped, tmp_path, stopped[0])
    assert watch.begun == [60] and watch.notes == []
    assert same_as_whole(folder, stopped)


def test_another_run_s_checkpoint_is_named(stopped: tuple[bytes, Path], tmp_path: Path) -> None:
    other = make_config(max_per_task=20, labelled=0.5)
    watch, _ = resume(stopped, tmp_path, stop(tmp_path / "other", other).file("checkpoint.safetensors").read_bytes())
    assert watch.begun == [0] and f"belongs to the run {other.run_id(0)!r}" in watch.notes[0]


def tensors_of(checkpoint: bytes, folder: Path) -> dict[str, np.ndarray]:
    path = folder / "whole.safetensors"
    path.write_bytes(checkpoint)
    return load_file(path)


@pytest.mark.parametrize("damage", ["gone", "shape", "tally"])
def test_a_state_that_the_learner_cannot_take_starts_over(
    stopped: tuple[bytes, Path], tmp_path: Path, damage: str
) -> None:
    """The sum is right: the learner is the first to notice, and may be half restored by then."""
    tensors, path = tensors_of(stopped[0], tmp_path), tmp_path / "damaged.safetensors"
    if damage == "gone":
        del tensors["learner/rng"]
    elif damage == "shape":
        tensors["learner/rng"] = tensors["learner/rng"][:2]
    else:
        tensors["run/counts"] = tensors["run/counts"][:3]
    run_id = CONFIG.run_id(0)
    save_file(tensors, path, metadata={"format": "1", "run": run_id, "sha256": _sum(run_id, tensors)})
    watch, folder = resume(stopped, tmp_path, path.read_bytes())
    assert watch.begun == [0] and len(watch.notes) == 1 and "starts over" in watch.notes[0]
    assert same_as_whole(folder, stopped)


def test_without_a_watch_it_is_a_warning(stopped: tuple[bytes, Path], tmp_path: Path) -> None:
    again(stopped, tmp_path / "runs", checkpoint_safetensors=stopped[0][:-1])
    with pytest.warns(UserWarning, match="starts over"):
        run(CONFIG, [0], tmp_path / "runs")


ENVIRONMENTS = ["", "3", "null", "{}", '{"a": 1}', '["x", [NaN]]', "[1e999]", "[" * 100_000, '"\\ud800"', "\x00", "["]


@pytest.mark.parametrize("text", ENVIRONMENTS, ids=range(len(ENVIRONMENTS)))
def test_any_environment_does_no_harm(stopped: tuple[bytes, Path], tmp_path: Path, text: str) -> None:
    again(stopped, tmp_path, environment_json=text.encode())
    assert run(CONFIG, [0], tmp_path).results[0].metrics.accuracy is not None


def test_an_environment_of_no_text_does_no_harm(stopped: tuple[bytes, Path], tmp_path: Path) -> None:
    again(stopped, tmp_path, environment_json=b"\xff")
    run(CONFIG, [0], tmp_path, again=True)


@pytest.mark.slow
def test_a_checkpoint_that_cannot_be_written_is_gone_on_without(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: the system refuses the write in the same way."""
    pytest.importorskip("resource")
    code = f"""
import math, resource, sys
sys.dont_write_bytecode = True  # Python keeps what it could write of a file in its cache
sys.path[:0] = {sys.path!r}
from pathlib import Path
from evaluation.test_damage import CONFIG, Notes
from kenyon.lab.evaluation import Store, run_dataset
from kenyon.data.streams import load_dataset
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
watch, folder = Notes(), Store(Path({str(tmp_path / "full")!r})).folder(CONFIG, 0)
with folder.locked(wait=True):
    run_dataset(CONFIG, 0, load_dataset("digits"), folder=folder, watch=watch,
                checkpoint_seconds=0.0, checkpoint_share=math.inf)
print("\\n".join(watch.notes))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert "checkpoint.safetensors cannot be written" in line and "File too large" in line
    run(CONFIG, [0], tmp_path / "whole")
    folder = Store(tmp_path / "full").folder(CONFIG, 0)
    assert content(folder) == content(Store(tmp_path / "whole").folder(CONFIG, 0))
    assert not list(folder.path.glob(".*"))


@pytest.mark.parametrize(("limit", "kind"), [(100, "nothing"), slow(1500, "curves")])
def test_a_full_disk_is_one_sentence(tmp_path: Path, limit: int, kind: str) -> None:
    """Where not even the curves can be written."""
    pytest.importorskip("resource")
    code = f"""
import resource, sys
sys.dont_write_bytecode = True  # Python keeps what it could write of a file in its cache
from kenyon.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.argv = "kenyon run --learner ncm --scenario single-task --seeds 1 --out".split() + [{str(tmp_path)!r}]
main()
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("kenyon: ") and "cannot be written to (File too large)" in last
    run(RunConfig("digits", "ncm", Curriculum("single-task")), [0], tmp_path)
