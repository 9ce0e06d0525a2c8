"""A few cases of every target of `make fuzz`; a crash and a hang are failures, not the end of it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar

import pytest

from fuzz import watched
from fuzz.target import Target, folder_in_memory, rng_of, run_here
from waiting import wait_until

CASES = {"run-folders": 40, "readers": 300, "configurations": 1000, "tables": 1000}


@pytest.mark.parametrize("name", CASES)
def test_a_few_cases_of_every_target(name: str) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra 'data'")
    from fuzz.__main__ import TARGETS

    assert set(TARGETS) == {*CASES, "model-files"}, "test_forged_models.py has the model files"
    with folder_in_memory() as folder:
        counts, failures = run_here(TARGETS[name](folder), seed=0, cases=range(CASES[name]))
    assert not failures, f"{len(failures)} failed, the first is case {failures[0].case}:\n{failures[0].what}"
    assert len(counts) > 1, "all cases ended alike"


@pytest.mark.slow
def test_a_few_buffers_of_every_model() -> None:
    import fuzz_buffers

    for name in fuzz_buffers.MODELS:
        try:
            assert fuzz_buffers.run(name, runs=200, seed=0) == 0
        except SystemExit as error:
            pytest.skip(str(error))


class Bad(Target):
    """Some of its cases raise, some crash, some never end."""

    name: ClassVar[str] = "bad"

    def case(self, rng: random.Random) -> str:
        number = rng.randrange(10)
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 1:
            Path(os.environ["HANGS"]).touch()
            threading.Event().wait()
        if number == 2:
            raise ValueError("a failure")
        return "fine"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_crashes_and_hangs_are_counted_and_the_other_cases_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hangs = tmp_path / "hangs"

    def hears(pipe: Connection) -> bool:
        wait_until(lambda: pipe.poll() or hangs.exists())
        hung = not pipe.poll()
        if hung:
            hangs.unlink()
        return not hung

    monkeypatch.setenv("HANGS", str(hangs))
    monkeypatch.setattr(watched, "hears", hears)
    counts, failures = watched.run_watched(Bad, 0, range(30))
    wanted = {case: rng_of(0, "bad", case).randrange(10) for case in range(30)}
    assert {failure.case for failure in failures} == {case for case, number in wanted.items() if number < 3}
    assert counts["fine"] == sum(number >= 3 for number in wanted.values())
    words = {0: "exit code -9", 1: "took more than", 2: "a failure"}
    assert all(words[wanted[failure.case]] in failure.what for failure in failures)


@pytest.mark.slow
def test_the_command_prints_counts_and_fails_where_a_case_fails() -> None:
    ran = subprocess.run([sys.executable, "-m", "fuzz", "tables", "--cases", "20"], capture_output=True, text=True)
    assert ran.returncode == 0 and "20 cases of seed 0, 0 failed" in ran.stdout, ran.stdout + ran.stderr
