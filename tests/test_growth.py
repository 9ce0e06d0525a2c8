"""What a change costs: a rule, a layer, features, a metric and an export from outside, one file each, and an option."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from kenyon import KenyonClassifier, LocalError, Sparse
from kenyon.cli import app
from kenyon.errors import ConfigError, MemoryBudgetError
from kenyon.export import export_model
from kenyon.features import FEATURES as PARTS
from kenyon.lab.comparison import tabulate
from kenyon.lab.evaluation import METRICS, RunConfig, Store, group_runs, run
from kenyon.lab.search import parse_space
from kenyon.layers import LAYERS as LAYER_PARTS
from kenyon.model.options import OPTIONS, ClassifierOptions
from kenyon.utils.options import options_of
from making import held, stream

HERE = Path(__file__).parent
RULE = f"{HERE / 'outside_rule.py'}:Leaky"
LAYER = f"{HERE / 'outside_layer.py'}:Hits"
FEATURES = f"{HERE / 'outside_features.py'}:Pairs"
EXPORT = f"{HERE / 'outside_export.py'}:write"
X, Y = stream()


# ---- a rule with a parameter of its own: its file


def test_an_outside_rule_is_used_by_name_with_its_own_parameter() -> None:
    weights = [
        KenyonClassifier(rule, n_hidden=100, features=Sparse(density=5), random_state=0)
        .partial_fit(X, Y)
        .weights_.tobytes()
        for rule in (RULE,)
    ]
    low, high = (
        run(RunConfig("digits", options={"rule": RULE, "rule__leak": leak, "n_hidden": 200}), [0]).results[0]
        for leak in (0.0, 0.9)
    )
    assert weights and low.state_sha256 != high.state_sha256, "the rule's own parameter changed nothing"


@pytest.mark.parametrize("how", ["--set", "config file"])
def test_an_outside_rule_on_the_command_line(how: str, tmp_path: Path) -> None:
    words = [
        "run",
        "--dataset",
        "digits",
        "--n-hidden",
        "100",
        "--seeds",
        "1",
        "--out",
        str(tmp_path / "runs"),
        "--json",
    ]
    if how == "--set":
        words += ["--rule", RULE, "--set", "rule__leak=0.5"]
    else:
        file = tmp_path / "run.toml"
        file.write_text(f"[options]\nrule = {json.dumps(RULE)}\nrule__leak = 0.5\n")
        words += ["--config", str(file)]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["config"]["options"]["rule__leak"] == 0.5
    wrong = CliRunner().invoke(app, [*words, "--set", "rule__leek=0.5"])
    assert wrong.exit_code != 0 and "did you mean 'rule__leak'" in wrong.output


def test_the_search_knows_the_parameter_of_an_outside_rule() -> None:
    name = json.dumps(RULE)
    space = parse_space(f"[rule]\nvalues = [{name}, 'gen']\n[{name}.rule__leak]\nlow = 0.0\nhigh = 1.0\n")
    point = space.draw(np.random.default_rng(0)) | {"rule": RULE, f"{RULE}.rule__leak": 0.25}
    assert space.options(point) == {"rule": RULE, "rule__leak": 0.25}
    with pytest.raises(ConfigError, match="leek"):
        parse_space(f"[rule]\nvalues = [{name}]\n[{name}.rule__leek]\nlow = 0.0\nhigh = 1.0\n")


# ---- a layer with state of its own: its file


def layered(**params: Any) -> KenyonClassifier:
    features = Sparse(units=90, density=5, threshold=1.0)
    return KenyonClassifier(layer=LAYER, features=features, random_state=0, unlabelled=-1, **params)


def test_an_outside_layer_learns_and_is_cut_saved_and_counted_like_any_other(tmp_path: Path) -> None:
    whole, pieces = layered().partial_fit(X, Y), layered()
    for start in range(0, len(X), 7):
        pieces.partial_fit(X[start : start + 7], Y[start : start + 7])
    assert held(whole) == held(pieces)
    known = Y >= 0
    assert np.mean(whole.predict(X)[known] == Y[known]) > 0.6
    whole.save(tmp_path / "model")
    again = KenyonClassifier.load(tmp_path / "model")
    assert held(again) == held(whole) and again.state_bytes == whole.state_bytes
    assert held(again.partial_fit(X, Y)) == held(whole.partial_fit(X, Y))
    sizes = {name: array.nbytes for name, array in whole.to_arrays().items()}
    assert sizes["hits.0"] == 2 * 90 * 7 and sizes["flags.0"] == -(-90 // 8)
    assert whole.state_bytes == sum(sizes.values())


def test_a_memory_budget_asks_the_layer_what_a_class_takes() -> None:
    budget = layered().partial_fit(X, Y).state_bytes
    fits = layered(memory_budget=budget + 400, expected_classes=1).partial_fit(X, Y)
    assert fits.state_bytes <= budget + 400
    before, known = held(fits), Y >= 0
    with pytest.raises(MemoryBudgetError):
        fits.partial_fit(X, np.where(known, Y + 100, -1))
    assert held(fits) == before


def test_a_call_that_fails_leaves_an_outside_layer_as_it_was() -> None:
    clf = layered().partial_fit(X, Y)
    before = held(clf)

    class Fails:
        def __call__(self, t: int) -> float:
            if t > 100:
                raise RuntimeError("half way")
            return 0.1

    failing = layered().set_params(layer__tired=Fails()).partial_fit(X, Y)
    state = held(failing)
    with pytest.raises(RuntimeError, match="half way"):
        for _ in range(3):
            state = held(failing)
            failing.partial_fit(np.tile(X, (3, 1)), np.tile(Y, 3))
    assert held(failing) == state and held(clf) == before


# ---- features of their own: their file


def test_outside_features_are_used_by_name_by_instance_and_in_a_run(tmp_path: Path) -> None:
    named = KenyonClassifier("mse", features=FEATURES, n_hidden=80, random_state=0).partial_fit(X, Y)
    part = type(named.spec_.features)(units=80)
    given = KenyonClassifier("mse", features=part, random_state=0).partial_fit(X, Y)
    assert np.array_equal(named.weights_, given.weights_) and named.spec_.n_units == 80
    given.save(tmp_path / "model")
    assert np.array_equal(KenyonClassifier.load(tmp_path / "model").predict(X), given.predict(X))
    options = {"rule": "mse", "features": FEATURES, "n_hidden": 100}
    plain, flipped = (
        run(RunConfig("digits", options=options | {"features__flip": flip}), [0]).results[0] for flip in (False, True)
    )
    assert plain.state_sha256 != flipped.state_sha256
    with pytest.raises(ConfigError, match="did you mean 'features__flip'"):
        RunConfig("digits", options=options | {"features__flop": True})


# ---- a metric: its file


def test_an_outside_metric_is_in_results_tables_and_json(tmp_path: Path) -> None:
    before = dict(METRICS)
    importlib.import_module("outside_metric")
    try:
        report = run(RunConfig("digits", "ncm"), [0], tmp_path)
        (result,) = report.results
        worst = min(value for value in result.accuracy_matrix[-1] if value is not None)
        assert result.metrics.worst_task == report.to_dict()["worst_task"]["mean"] == worst < result.metrics.accuracy
        groups = group_runs(Store(tmp_path).runs()).groups
        assert tabulate(groups, ["learner", "worst_task"]).columns == ("worst task, %",)
        assert json.loads(Store(tmp_path).runs()[0].file("metrics.json").read_text())["metrics"]["worst_task"] == worst
        shown = CliRunner().invoke(app, ["show", str(result.folder)]).stdout
        assert f"{100 * worst:.2f}" in next(line for line in shown.splitlines() if line.startswith("worst task, %"))
    finally:
        METRICS.clear()
        METRICS.update(before)
        sys.modules.pop("outside_metric", None)


# ---- an export: its file


def test_an_outside_export_is_named_like_any_other(tmp_path: Path) -> None:
    clf = KenyonClassifier("gen", n_hidden=80, random_state=0).partial_fit(X, Y)
    (path,) = export_model(clf, EXPORT, tmp_path / "called", suffix="labels")
    assert path.read_text() == " ".join(map(str, clf.classes_))
    clf.save(tmp_path / "model")
    words = ["export", str(tmp_path / "model"), "--to", EXPORT, "--out", str(tmp_path / "commanded")]
    assert CliRunner().invoke(app, words).exit_code == 0 and (tmp_path / "commanded" / "labels.txt").exists()
    with pytest.raises(ConfigError, match=r"unknown export 'nunpy'.*did you mean 'numpy'"):
        export_model(clf, "nunpy", tmp_path)


# ---- an option: a field of a part


def test_every_option_is_declared_once_and_known_everywhere() -> None:
    fields = {field.name for field in dataclasses.fields(ClassifierOptions)}
    assert fields == set(OPTIONS) == set(KenyonClassifier().get_params())
    listed = CliRunner().invoke(app, ["learners", "kenyon"]).stdout
    helped = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["run", "--help-all"]).stdout
    page = (HERE.parent / "docs" / "parameters.md").read_text(encoding="utf-8")
    for part in (*PARTS.values(), *LAYER_PARTS.values(), LocalError):
        for name, entry in options_of(part).items():
            assert entry.description.endswith(".") and f"`{name}`" in page
    for name, entry in OPTIONS.items():
        assert entry.description.endswith(".") and name in (KenyonClassifier.__doc__ or "")
        assert f"`{name}`" in page, "docs/parameters.md is old: python benchmarks/parameters_page.py"
        if entry.of_run:
            assert name in listed and f"--{name.replace('_', '-')} " in helped


@pytest.mark.parametrize("name", [name for name, entry in OPTIONS.items() if entry.kind not in ("rule", "seed")])
def test_an_option_refuses_what_it_cannot_be(name: str) -> None:
    class Odd:
        def __repr__(self) -> str:
            return "<odd>"

    with pytest.raises(ConfigError, match=name):
        OPTIONS[name].check(Odd())
