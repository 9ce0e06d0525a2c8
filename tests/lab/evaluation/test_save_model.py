"""The trained model of a run: kept on request, without another result for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluation.test_damage import Notes
from evaluation.test_store import Count
from kenyon import KenyonClassifier
from kenyon.cli import app
from kenyon.data.streams import Curriculum, load_dataset
from kenyon.errors import ConfigError, DataError
from kenyon.lab.evaluation import RunConfig, Store, load_learner, run, state_hash

CONFIG = RunConfig("digits", "kenyon", Curriculum(max_per_task=60), {"n_hidden": 200})
MODEL = "model.safetensors"


def test_the_model_is_that_of_the_run(tmp_path: Path) -> None:
    (result,) = run(CONFIG, [3], tmp_path, save_model=True).results
    assert result.folder is not None
    model = KenyonClassifier.load(result.folder / MODEL)
    test = load_dataset("digits").test
    assert np.mean(model.predict(test.X) == test.y) == pytest.approx(result.metrics.sample_accuracy, abs=1e-12)
    model.partial_fit(test.X[:5], test.y[:5])
    assert model.state_bytes > 0


def test_the_model_makes_no_difference(tmp_path: Path) -> None:
    (plain,), (kept,) = (run(CONFIG, [0], tmp_path / str(save), save_model=save).results for save in (False, True))
    assert plain.run == kept.run and plain.state_sha256 == kept.state_sha256
    assert plain.accuracy_matrix == kept.accuracy_matrix
    assert plain.folder is not None and kept.folder is not None
    names = [{path.name for path in folder.iterdir()} for folder in (plain.folder, kept.folder)]
    assert names[1] - names[0] == {MODEL} and names[0] <= names[1]


def test_a_complete_run_gets_its_model_and_keeps_its_results(tmp_path: Path) -> None:
    count = Count()
    (before,) = run(CONFIG, [0], tmp_path, watch=count).results
    assert before.folder is not None
    files = {path.name: path.read_bytes() for path in before.folder.iterdir()}
    (after,) = run(CONFIG, [0], tmp_path, save_model=True, watch=count).results
    assert count.runs == 2 and after == before
    assert {path.name: path.read_bytes() for path in before.folder.iterdir() if path.name != MODEL} == files
    fresh = run(CONFIG, [0], tmp_path / "fresh", save_model=True).results[0].folder
    assert fresh is not None
    one, two = (KenyonClassifier.load(folder / MODEL).to_arrays() for folder in (before.folder, fresh))
    assert set(one) == set(two) and all(np.array_equal(one[name], two[name]) for name in one)
    run(CONFIG, [0], tmp_path, save_model=True, watch=count)
    run(CONFIG, [0], tmp_path, watch=count)
    assert count.runs == 2, "everything that is asked for is there"


def test_a_run_for_the_model_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluation.workers import Interrupted

    monkeypatch.setattr("kenyon.lab.evaluation._checkpoint.Timer.due", lambda *_: True)
    run(CONFIG, [0], tmp_path)
    with pytest.raises(Interrupted):
        run(CONFIG, [0], tmp_path, save_model=True, watch=Notes(stop_after=3))
    assert Store(tmp_path).folder(CONFIG, 0).complete, "the results are not lost for it"
    watch = Notes()
    run(CONFIG, [0], tmp_path, save_model=True, watch=watch)
    assert watch.begun == [180]
    folder = Store(tmp_path).folder(CONFIG, 0)
    assert folder.file(MODEL).exists() and not (folder.path / ".again").exists()


def test_other_results_than_those_kept_are_not_given_a_model(tmp_path: Path) -> None:
    """The code has changed, or the results were tampered with: a model would not be theirs."""
    run(CONFIG, [0], tmp_path)
    folder = Store(tmp_path).folder(CONFIG, 0)
    values = json.loads(folder.file("metrics.json").read_text())
    values["accuracy_matrix"][0][0] = 0.125
    folder.file("metrics.json").write_text(json.dumps(values))
    with pytest.raises(DataError, match="run again with --again"):
        run(CONFIG, [0], tmp_path, save_model=True)
    assert not folder.file(MODEL).exists() and not (folder.path / ".again").exists()
    run(CONFIG, [0], tmp_path, save_model=True, again=True)
    assert folder.file(MODEL).exists()


def test_run_again_forgets_the_model(tmp_path: Path) -> None:
    run(CONFIG, [0], tmp_path, save_model=True)
    run(CONFIG, [0], tmp_path, again=True)
    assert not Store(tmp_path).folder(CONFIG, 0).file(MODEL).exists()


def test_a_learner_without_a_file_of_its_own_keeps_its_state(tmp_path: Path) -> None:
    config = RunConfig("digits", "evaluation.tiny:Tiny", Curriculum(max_per_task=30))
    report = run(config, [2], tmp_path, save_model=True)
    learner = load_learner(tmp_path / report.results[0].folder.name)
    assert state_hash(learner.state()) == report.results[0].state_sha256
    with pytest.raises(ConfigError, match="without a store"):
        run(config, [2], save_model=True)


def test_the_learner_of_a_run_goes_on_from_its_file(tmp_path: Path) -> None:
    report = run(CONFIG, [0], tmp_path, save_model=True)
    learner = load_learner(Store(tmp_path).folder(CONFIG, 0))
    assert state_hash(learner.state()) == report.results[0].state_sha256
    X, y = CONFIG.curriculum.open(load_dataset("digits")).episodes[0].train(0, 20)
    before = learner.synaptic_updates
    learner.learn(X, y)
    assert learner.synaptic_updates > before
    run(CONFIG, [1], tmp_path)
    with pytest.raises(DataError, match="--save-model"):
        load_learner(Store(tmp_path).folder(CONFIG, 1))


def test_a_report_has_the_learners_on_request(tmp_path: Path) -> None:
    for store in (None, tmp_path, tmp_path):  # the second time the runs are found complete
        report = run(CONFIG, [1, 0], store, keep_learners=True)
        assert [state_hash(one.state()) for one in report.learners] == [r.state_sha256 for r in report.results]
    assert run(CONFIG, [0], tmp_path).learners == []
    with pytest.raises(ConfigError, match="several workers"):
        run(CONFIG, [0, 1], tmp_path, keep_learners=True, workers=2)


def test_on_the_command_line(tmp_path: Path) -> None:
    words = ["run", "--max-per-task", "20", "--n-hidden", "100", "--seeds", "1", "--out", str(tmp_path / "a")]
    result = CliRunner().invoke(app, [*words, "--save-model"])
    assert result.exit_code == 0, result.stderr
    (folder,) = (tmp_path / "a").iterdir()
    assert KenyonClassifier.load(folder / MODEL).n_features_in_ == 64
    (tmp_path / "c.toml").write_text("save_model = true\nseeds = 1\nmax_per_task = 20\n")
    assert (
        CliRunner().invoke(app, ["run", "--config", str(tmp_path / "c.toml"), "--out", str(tmp_path / "b")]).exit_code
        == 0
    )
    assert list((tmp_path / "b").glob(f"*/{MODEL}"))
    (tmp_path / "c.toml").write_text('save_model = "yes"\n')
    result = CliRunner().invoke(app, ["run", "--config", str(tmp_path / "c.toml")])
    assert result.exit_code == 2 and "save_model = 'yes'" in result.stderr
    result = CliRunner().invoke(app, ["run", "--learner", "ncm", "--save-model", "--out", str(tmp_path / "d")])
    assert result.exit_code == 0 and len(list((tmp_path / "d").glob(f"*/{MODEL}"))) == 5
