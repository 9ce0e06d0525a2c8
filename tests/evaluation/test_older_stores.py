"""Stores of earlier versions: their runs are found, gone on with and not run again; new options orphan nothing."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation.stores.make import CONFIGS, STOPPED, config_of, write_csv
from evaluation.test_store import Count
from evaluation.workers import content
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, Store, run
from kenyon.lab.evaluation import _identity as identity_module
from kenyon.learners import LEARNERS, find_learner, learner_options

STORES = Path(__file__).parent / "stores"
RECORD = json.loads((Path(identity_module.__file__).parent / "ids_1.json").read_text())


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the store that the version before `run.json` wrote, as the current folder."""
    store = shutil.copytree(STORES / "1", tmp_path / "1", copy_function=shutil.copy)
    monkeypatch.chdir(store)
    return store


def test_a_memory_budget_is_spent_in_another_way_now(older: Path) -> None:
    count = Count()
    run(config_of(CONFIGS["budget"]), [0], older, watch=count)
    assert count.runs == 1


@pytest.mark.parametrize("name", [name for name in CONFIGS if name != "budget"])
def test_a_run_of_an_earlier_version_is_not_run_again(older: Path, name: str) -> None:
    config, count, before = config_of(CONFIGS[name]), Count(), sorted(older.rglob("*"))
    result = run(config, [0], older, watch=count).results[0]
    assert count.runs == 0
    assert result.folder is not None and not result.folder.name.endswith(config.run_id(0))
    assert [path for path in sorted(older.rglob("*")) if path.name != "lock"] == before
    assert result.run == "" and 0 <= result.metrics.accuracy <= 1  # type: ignore[operator]


@pytest.mark.parametrize("name", ["gen", "gen-b1", "gen-beta", "slda", "csv"])
def test_it_is_found_by_its_own_configuration_file(older: Path, name: str) -> None:
    folder = Store(older).folder(config_of(CONFIGS[name]), 0)
    values = folder.config()
    assert values.pop("seeds") == [0]
    assert Store(older).folder(RunConfig.from_dict(values), 0) == folder


def test_the_results_are_those_of_today(older: Path, tmp_path: Path) -> None:
    config = config_of(CONFIGS["tiny"])
    fresh = run(config, [0], tmp_path / "fresh").results[0]
    found = run(config, [0], older).results[0]
    assert found.accuracy_matrix == fresh.accuracy_matrix  # the last bits of the state depend on the processor's BLAS


def test_a_stopped_run_goes_on_from_its_checkpoint(older: Path, tmp_path: Path) -> None:
    config = config_of(STOPPED)
    folder = Store(older).folder(config, 0)
    assert folder.file("checkpoint.safetensors").exists() and not folder.complete
    learned = []

    class Started(Count):
        def started(self, seed: int, info: object, n_test: object, tally: Any) -> None:  # type: ignore[override]
            learned.append(tally.learned)

    result = run(config, [0], older, watch=Started()).results[0]
    assert result.folder == folder.path
    assert learned == [30], "three tasks of ten samples were learned before the stop"
    run(config, [0], tmp_path / "whole")
    found, whole = content(folder), content(Store(tmp_path / "whole").folder(config, 0))
    for own in (found, whole):
        del own["metrics"]["state_sha256"]  # the checkpoint was made on another processor, with another BLAS
    assert found == whole


def test_the_published_runs_are_found_by_their_configurations() -> None:
    """Every seventh run of docs/results.json, by the configuration that stands beside it."""
    runs = json.loads((Path(__file__).parents[2] / "docs" / "results.json").read_text())["runs"]
    for name in sorted(runs)[::7]:
        text = runs[name]["config"]
        home = text.split()[2].rstrip(",") if text.startswith("# As ") else name
        values = tomllib.loads(runs[home]["config"])
        del values["seeds"]
        config, seed = RunConfig.from_dict(values), runs[name]["seed"]
        assert name in (config.folder_name(seed), *config.older_names(seed))


def test_a_run_under_its_new_name_comes_first(older: Path) -> None:
    config = config_of(CONFIGS["ncm"])
    run(config, [0], older / "new")
    new = Store(older / "new").folder(config, 0)
    shutil.copytree(new.path, older / new.path.name)
    assert Store(older).folder(config, 0).path == older / new.path.name


def test_a_class_that_was_edited_since_is_run_again(older: Path) -> None:
    """Its source was not recorded: what is newer than the run may be another class."""
    config = config_of(CONFIGS["tiny"])
    written = Store(older).folder(config, 0).file("config.toml")
    os.utime(written, (0, 0))
    assert Store(older).folder(config, 0).path.name == config.folder_name(0)


def test_an_edited_data_set_is_run_again(older: Path) -> None:
    config = config_of(CONFIGS["csv"])
    with open(older / "mine.csv", "a") as file:
        file.write("41,2,1\n")
    assert Store(older).folder(config, 0).path.name == config.folder_name(0)


def test_a_new_option_leaves_every_id_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    configs = [config_of(values) for name, values in CONFIGS.items() if name != "csv"]
    ids = [config.run_ids(0) for config in configs]

    def with_more(name: str, given: dict[str, Any]) -> dict[str, Any]:
        return {"from_tomorrow": 0.5, **learner_options(name, given)}

    monkeypatch.setattr("kenyon.lab.evaluation._identity.learner_options", with_more)
    monkeypatch.setattr("kenyon.lab.evaluation._older.learner_options", with_more)
    for config, before in zip(configs, ids, strict=True):
        object.__setattr__(config, "options", {"from_tomorrow": 0.5, **config.options})
        assert config.run_id(0) == before[0]
        if ":" not in config.learner:  # an own class with a new option has a new source text
            assert config.run_ids(0) == before
        object.__setattr__(config, "options", {**config.options, "from_tomorrow": 0.6})
        assert config.run_id(0) != before[0]
        if ":" not in config.learner:
            assert config.run_ids(0)[1:] == (), "the earlier version had no such option"


@pytest.mark.parametrize("whose", ["learner", "loop"])
def test_another_meaning_is_another_run_everywhere(older: Path, monkeypatch: pytest.MonkeyPatch, whose: str) -> None:
    config = config_of(CONFIGS["gen"])
    before = config.run_id(0)
    if whose == "learner":
        monkeypatch.setitem(LEARNERS, "kenyon", replace(LEARNERS["kenyon"], meaning=2))
    else:
        monkeypatch.setattr("kenyon.lab.evaluation._identity.MEANING", 2)
    assert config.run_id(0) != before
    assert config.older_names(0) == []
    count = Count()
    run(config, [0], older, watch=count)
    assert count.runs == 1


@pytest.mark.parametrize("name", RECORD["learners"])
def test_a_default_that_changes_raises_the_meaning(name: str) -> None:
    """Else old numbers would be served for new code."""
    if find_learner(name).meaning == 1:
        now = json.loads(json.dumps(learner_options(name)))
        then = RECORD["learners"][name]
        off = {key for key in then if now.get(key) == "off" and then[key] in (None, "", 1)}  # other words for the same
        off |= {key for key in ("threshold", "features", "inhibitory") if now.get(key) == "auto"}  # what they were then
        own = {key for key in ("b1", "b2") if then.get(key, 0) is None}  # the rule's own, which it says itself now
        changed = {key: (then[key], now[key]) for key in {*then} & {*now} - off - own if now[key] != then[key]}
        assert not changed, f"raise the meaning of {name!r}: {changed}"


def test_a_default_of_the_stream_that_changes_raises_the_meaning() -> None:
    if identity_module.MEANING == 1:
        now = {key: value for key, value in vars(Curriculum()).items() if key in RECORD["curriculum"]}
        assert now == RECORD["curriculum"]
        assert {key: getattr(RunConfig("digits"), key) for key in RECORD["run"]} == RECORD["run"]


def test_an_own_class_is_known_by_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own file, and that of a base class of its own; not the time at which it was written."""
    monkeypatch.syspath_prepend(tmp_path)
    base, own = tmp_path / "own_base.py", tmp_path / "own_learner.py"
    base.write_text("from evaluation.tiny import Tiny\n\n\nclass Base(Tiny):\n    pass\n")
    own.write_text("from own_base import Base\n\n\nclass Own(Base):\n    pass\n")

    def run_id() -> str:
        """As another process would have it."""
        for name in ("own_base", "own_learner"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return RunConfig("digits", "own_learner:Own", Curriculum(max_per_task=10)).run_id(0)

    first = run_id()
    for path in (own, base):
        text = path.read_text()
        path.write_text(text + "# another thought\n")
        assert run_id() != first, path
        path.write_text(text)
        assert run_id() == first, path


def test_an_edit_while_a_run_is_under_way_is_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "edited_own.py").write_text("from evaluation.tiny import Tiny\n\n\nclass Own(Tiny):\n    pass\n")
    write_csv(tmp_path / "mine.csv")

    class Edit(Count):
        def tested(self, tally: object) -> None:
            for name in ("edited_own.py", "mine.csv"):
                with open(tmp_path / name, "a") as file:
                    file.write("\n")

    config = RunConfig(str(tmp_path / "mine.csv"), "edited_own:Own", Curriculum("single-task"))
    (result,) = run(config, [0], tmp_path / "runs", watch=Edit()).results
    assert result.folder is not None and result.folder.name.endswith(result.run)


def test_an_own_rule_is_known_by_its_source() -> None:
    import outside_rule

    config = RunConfig("digits", options={"rule": outside_rule.Leaky.name, "leak": 0.5})
    sources = identity_module.sources_of(config)
    assert list(sources) == ["outside_rule"]
    assert identity_module.sources_of(RunConfig("digits", options={"rule": "inel", "beta": 2.0})) == {}


def test_a_record_of_a_run_is_checked(tmp_path: Path) -> None:
    config = config_of(CONFIGS["ncm"])
    folder = Store(tmp_path).folder(config, 0)
    run(config, [0], tmp_path)
    record = folder.record()
    assert record is not None and record["run"] == config.run_id(0) == folder.path.name[-12:]
    assert record["values"]["labelled"] == 0.5 and record["values"]["options"] == {}
