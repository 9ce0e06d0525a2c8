"""Jobs in processes on this machine: answers, errors, deaths, and the end of it all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kenyon.errors import ConfigError, KenyonError
from kenyon.utils.parallel import Pool, WorkerDiedError, Workers
from parallel.jobs import die, die_unless, double, fail, fail_oddly, hold, perform, unsendable, where
from waiting import wait_until


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_every_job_is_answered_whatever_the_number_of_workers(workers: int | None) -> None:
    answers = perform({str(i): (double, i) for i in range(7)}, Workers(workers))
    assert {key: answer.result() for key, answer in answers.items()} == {str(i): 2 * i for i in range(7)}
    assert all(answer.seconds >= 0 for answer in answers.values())


def test_one_worker_is_this_process_and_more_are_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.chdir(tmp_path)
    here = perform({"here": (where,)}, Workers())["here"]
    assert here.value == (os.getpid(), str(tmp_path), None)
    with Pool(Workers(2)) as pool:
        first = tmp_path / "first"
        first.mkdir()
        monkeypatch.chdir(first)  # a worker goes where its job was submitted
        for i in range(4):
            pool.submit(i, where)
        found = [answer.value for answer in pool.answers()]
    assert {(folder, threads) for _, folder, threads in found} == {(str(first), "1")}
    processes = {process for process, _, _ in found}
    assert os.getpid() not in processes
    assert len(processes) <= 2
    assert "OMP_NUM_THREADS" not in os.environ


def test_what_a_job_raises_is_its_answer_and_the_others_go_on() -> None:
    jobs = {"bad": (fail, "no"), "odd": (fail_oddly,), "lambda": (unsendable,), "good": (double, 4)}
    answers = perform(jobs, Workers(2))
    assert answers["good"].result() == 8
    with pytest.raises(ValueError, match="no"):
        answers["bad"].result()
    assert type(answers["odd"].error) is KenyonError
    assert str(answers["odd"].error) == "OddError: it: odd"
    assert "cannot be sent back" in str(answers["lambda"].error)


def test_a_job_whose_worker_dies_is_tried_again_and_then_reported(tmp_path: Path) -> None:
    jobs = {"dies": (die,), "once": (die_unless, tmp_path / "marker"), "good": (double, 4)}
    answers = perform(jobs, Workers(2))
    assert isinstance(answers["dies"].error, WorkerDiedError)
    assert str(answers["dies"].error).startswith("its process died (exit code -9), 4 times")
    assert answers["once"].result() == "done"
    assert answers["good"].result() == 8


def test_a_worker_that_dies_idle_is_replaced() -> None:
    with Pool(Workers(1)) as pool:
        pool.submit("who", where)
        (answer,) = pool.answers()
        os.kill(answer.value[0], 9)
        wait_until(lambda: not alive(answer.value[0]))
        pool.submit("next", double, 1)
        assert [a.result() for a in pool.answers()] == [2]


def test_jobs_may_be_submitted_while_answers_come() -> None:
    with Pool(Workers(2)) as pool:
        pool.submit(1, double, 1)
        seen = []
        for answer in pool.answers():
            seen.append(answer.result())
            if answer.result() < 20:
                pool.submit(answer.result(), double, answer.result())
    assert seen == [2, 4, 8, 16, 32]


def test_what_cannot_be_sent_is_refused_at_once() -> None:
    with Pool(Workers(1)) as pool:
        with pytest.raises(Exception, match="pickle"):
            pool.submit("lambda", lambda: None)
        pool.submit("good", double, 1)
        assert [answer.key for answer in pool.answers()] == ["good"]


@pytest.mark.parametrize(
    ("engine", "workers", "address", "message"),
    [
        ("dask", None, None, "unknown engine 'dask': expected one of local, ray"),
        ("local", 0, None, "workers is 0: expected an integer from 1"),
        ("local", 2, "there:6379", "address is 'there:6379': only the engine 'ray' has one"),
    ],
)
def test_what_no_pool_can_be_made_of(engine: str, workers: int | None, address: str | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Workers(workers, engine, address)


OWNER = """
from pathlib import Path
from kenyon.utils.parallel import Workers
from parallel.jobs import hold, perform
if __name__ == "__main__":
    perform({name: (hold, Path(name)) for name in ("one", "two")}, Workers(2))
"""


def test_workers_end_with_the_process_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "owner.py").write_text(OWNER)
    owner = subprocess.Popen([sys.executable, "owner.py"], cwd=tmp_path)
    begun = [tmp_path / "one", tmp_path / "two"]
    try:
        wait_until(lambda: all(path.exists() for path in begun), owner)
    finally:
        owner.kill()
        owner.wait()
    wait_until(lambda: not any(alive(int(path.read_text())) for path in begun))


def test_workers_end_with_the_pool(tmp_path: Path) -> None:
    with Pool(Workers(2)) as pool:
        pool.submit("holds", hold, tmp_path / "one")
        wait_until((tmp_path / "one").exists)
    assert not alive(int((tmp_path / "one").read_text()))


def alive(process: int) -> bool:
    """Whether a process runs; one that ended and was not waited for yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
