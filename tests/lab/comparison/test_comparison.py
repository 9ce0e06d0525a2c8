"""Tables, paired differences, ranks and pictures of configurations."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cases import slow
from evaluation.tiny import Tiny
from kenyon.data.streams import Curriculum
from kenyon.errors import ConfigError, DataError
from kenyon.lab.comparison import compare, pick_groups, rank_streams, select_groups, sort_groups, tabulate
from kenyon.lab.evaluation import RunConfig, RunGroup, Store, Summary, group_runs, run_all
from kenyon.lab.plots import plot_comparison
from kenyon.lab.table_formats import screen_rows, write_table
from kenyon.lab.tables import Empty, Row, Table, Text
from kenyon.lab.tables import Result as TableResult

TINY = f"evaluation.tiny:{Tiny.__name__}"
SEEDS = (0, 1, 2, 3)


def make(learner: str, scenario: str = "class-incremental", **options: object) -> RunConfig:
    return RunConfig("digits", learner, Curriculum(scenario, max_per_task=20), options)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store")
    configs = [make("ncm"), make("ncm", metric="cosine"), make("slda"), make(TINY, rate=0.1)]
    configs += [make("ncm", "task-incremental"), make("slda", "task-incremental"), make(TINY, "task-incremental")]
    run_all(configs, SEEDS, path)
    run_all([make("ncm", "single-task")], [0, 1], path)
    return path


@pytest.fixture(scope="module")
def groups(store: Path) -> list[RunGroup]:
    return group_runs(Store(store).runs()).groups


def test_a_row_says_only_what_differs_within_its_learner(groups: list[RunGroup]) -> None:
    split = select_groups(groups, ["scenario=class-incremental"])
    table = tabulate(sort_groups(split))
    assert table.corner == "learner"
    assert table.columns[:5] == ("accuracy, %", "forgetting, %", "state", "time", "seeds")
    options = {row.cells[-1] for row in table.rows if row.label == "ncm"}
    assert options == {Text("metric=euclidean"), Text("metric=cosine")}
    assert {row.cells[-1] for row in table.rows if row.label != "ncm"} == {Empty()}
    assert table.note == "digits, class-incremental"
    assert any("task-incremental" in str(row.cells[-1]) for row in tabulate(groups).rows)


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        (["learner=ncm"], 4),
        (["learner!=ncm"], 4),
        (["learner=ncm", "metric=cosine"], 1),
        (["rate>=0.05"], 2),
        (["rate>0.05"], 1),
        (["seeds<3"], 1),
        (["accuracy>100"], 0),
        (["accuracy > 1", "state_bytes<1e9"], 8),
        (["scenario<d"], 4),
    ],
)
def test_conditions(groups: list[RunGroup], conditions: list[str], count: int) -> None:
    assert len(select_groups(groups, conditions)) == count


@pytest.mark.parametrize("condition", ["learner", "=3", "learner~ncm", "", "metrik=cosine"])
def test_a_condition_that_means_nothing_is_refused(groups: list[RunGroup], condition: str) -> None:
    with pytest.raises(ConfigError, match=r"is not understood|did you mean 'metric'"):
        select_groups(groups, [condition])


def test_the_best_comes_first(groups: list[RunGroup]) -> None:
    for key, falling in (("accuracy", True), ("forgetting", False), ("state_bytes", False), ("total_seconds", False)):
        means = [group.report.summary(key).mean for group in sort_groups(groups, key)]
        known = [mean for mean in means if mean is not None]
        assert known == sorted(known, reverse=falling), key
        assert means[len(known) :] == [None] * (len(means) - len(known)), "what has no value comes last"
    assert [g.config["learner"] for g in sort_groups(groups, "learner")] == sorted(
        str(group.config["learner"]) for group in groups
    )
    assert sort_groups(groups, "accuracy", reverse=True)[0] is sort_groups(groups)[-1]
    with pytest.raises(ConfigError, match="did you mean 'accuracy'"):
        sort_groups(groups, "acuracy")


def test_every_format_has_the_same_numbers(groups: list[RunGroup]) -> None:
    table = tabulate(sort_groups(groups), ["learner", "accuracy", "rate", "options"])
    rows = list(csv.DictReader(io.StringIO(write_table(table, "csv"))))
    cells = [row.cells[0] for row in table.rows]
    assert all(isinstance(cell, TableResult) for cell in cells)
    assert [float(row["accuracy"]) for row in rows] == pytest.approx([cell.mean for cell in cells])
    assert [float(row["accuracy_std"]) for row in rows] == pytest.approx([cell.std for cell in cells])
    latex, markdown = write_table(table, "latex"), write_table(table, "markdown")
    for cell in cells:
        mean, std = f"{cell.mean:.2f}", f"{cell.std:.2f}"
        assert rf"{mean} \pm {std}" in latex and f"{mean} ± {std}" in markdown
    assert latex.count(r"\\") == len(table.rows) + 1
    assert latex.count("mathbf") == sum(cell.best for cell in cells)
    assert latex.count("&") == 3 * (len(table.rows) + 1)


def test_the_best_of_each_stream_is_bold_and_so_is_what_ties_with_it(groups: list[RunGroup]) -> None:
    """Never across streams; what is printed with the same digits is as good; one alone is not the best of anything."""
    ordered = sort_groups(groups)
    tied = replace_means(ordered)
    by_stream: dict[str, list[str]] = {}
    for group in tied:
        by_stream.setdefault(str(group.config["scenario"]), []).append(
            f"{100 * group.report.summary('accuracy').mean:.2f}"
        )
    cells = [row.cells[0] for row in tabulate(tied, ["learner", "accuracy"]).rows]
    for group, cell in zip(tied, cells, strict=True):
        values = by_stream[str(group.config["scenario"])]
        assert cell.best == (len(values) > 1 and f"{cell.mean:.2f}" == max(values, key=float))
    assert sum(cell.best for cell in cells) == 3  # two that tie in one stream, one in another, none in the third


class Known:
    """A group of runs with an accuracy that is known."""

    def __init__(self, group: RunGroup, mean: float) -> None:
        self._group = group
        self.report = SimpleNamespace(summary=lambda key: Summary(mean, 0.01, (mean,) * 4))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)


def replace_means(groups: list[RunGroup]) -> list[Any]:
    """Two of the first stream tie when they are rounded."""
    means = {"class-incremental": [0.90001, 0.9, 0.5, 0.4], "task-incremental": [0.95, 0.6, 0.3], "single-task": [0.99]}
    return [Known(group, means[str(group.config["scenario"])].pop(0)) for group in groups]


def test_a_unit_is_left_out_only_where_a_word_says_it() -> None:
    cells = (TableResult(0.25, unit="s"), TableResult(93.0, unit="%"), TableResult(4.0, unit="%"))
    table = Table("units", "", ("time", "accuracy, %", "share"), (Row("slda", cells),))
    assert screen_rows(table) == (["", "time", "accuracy, %", "share, %"], [["slda", "0.25 s", "93.00", "4.00"]])
    one = Table("units", "", ("value",), (Row("slda", cells[:1]), Row("forgetting, %", cells[2:])))
    assert screen_rows(one)[1] == [["slda", "0.25 s"], ["forgetting, %", "4.00"]]


def test_text_is_escaped_in_latex_and_markdown() -> None:
    table = Table.of_text(("a_b",), [("50% & {x}|~^\\ $#<",)])
    assert r"50\% \& \{x\}|\textasciitilde{}\textasciicircum{}\textbackslash{} \$\#\textless{}" in write_table(
        table, "latex"
    )
    assert r"a\_b" in write_table(table, "latex")
    assert r"\|" in write_table(table, "markdown")


def test_differences_are_those_of_the_seeds(groups: list[RunGroup]) -> None:
    (pair,) = [p for p in compare(groups, ["slda", TINY]).pairs if "class" in p.stream]
    by_name = {g.config["learner"]: g for g in select_groups(groups, ["scenario=class-incremental", "learner!=ncm"])}
    a, b = (np.array(by_name[name].report.summary("accuracy").per_seed) for name in ("slda", TINY))
    expected = stats.ttest_rel(a, b)
    interval = expected.confidence_interval(0.95)
    assert pair.seeds == SEEDS
    assert np.isclose(pair.difference, (a - b).mean()) and np.isclose(pair.p, expected.pvalue)
    assert np.allclose(pair.interval, (interval.low, interval.high))
    permuted = [p for p in compare(groups, ["slda", TINY], test="permutation").pairs if "class" in p.stream]
    reference = stats.permutation_test((a - b,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert np.isclose(permuted[0].p, reference.pvalue)


def test_holm_allows_for_the_number_of_pairs(groups: list[RunGroup]) -> None:
    pairs = compare(groups, ["ncm,metric=euclidean", "slda", TINY]).pairs
    assert len(pairs) == 6
    ordered = sorted(pairs, key=lambda pair: pair.p)
    assert np.isclose(ordered[0].p_holm, min(1.0, 6 * ordered[0].p))
    adjusted = [pair.p_holm for pair in ordered]
    assert adjusted == sorted(adjusted) and all(pair.p_holm >= pair.p for pair in pairs)


def test_only_runs_of_the_same_stream_are_paired(groups: list[RunGroup], tmp_path: Path) -> None:
    run_all([make("ncm")], [0, 1], tmp_path)
    run_all([make("slda")], [1, 2], tmp_path)
    found = group_runs(Store(tmp_path).runs()).groups
    assert compare(found).pairs[0].seeds == (1,)
    assert compare(found).pairs[0].p is None and compare(found).pairs[0].interval is None
    other = RunConfig("digits", "slda", Curriculum(max_per_task=20, class_order="shuffled"))
    run_all([other], [0, 1], tmp_path / "other")
    mixed = [g for g in found if g.config["learner"] == "ncm"] + group_runs(Store(tmp_path / "other").runs()).groups
    with pytest.raises(DataError, match="nothing to pair"):
        compare(mixed)


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (["ncm", "slda"], {}, "stands for 2 configurations.*metric.*ncm,metric="),
        (["ncm,metric=cosine"], {}, "expected two or more"),
        (["slda", "scm"], {}, "did you mean 'ncm'"),
        (["slda", "ncm,cosine"], {}, "expected a learner and values"),
        (["slda", TINY], {"metric": "acuracy"}, "did you mean 'accuracy'"),
        (["slda", TINY], {"test": "z"}, "unknown test"),
        (["slda", TINY], {"level": 95}, "level is 95"),
    ],
)
def test_what_cannot_be_compared_is_said(groups: list[RunGroup], names: list[str], options: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        compare(groups, names, **options)


def test_ranks_over_streams(groups: list[RunGroup]) -> None:
    ranks = compare(groups, ["ncm,metric=euclidean", "slda", TINY]).ranks
    assert ranks is not None and ranks.streams == 2 and len(ranks.names) == 3
    assert np.isclose(sum(ranks.means), 6.0)
    values = {str(i): row for i, row in enumerate(np.random.default_rng(0).random((12, 4)).tolist())}
    made = rank_streams(list("abcd"), values)
    assert made is not None
    assert np.isclose(made.p, stats.friedmanchisquare(*np.array(list(values.values())).T).pvalue)
    assert np.isclose(made.critical, 2.569 * np.sqrt(4 * 5 / (6 * 12)), rtol=1e-3), "the table of Nemenyi's test"
    assert rank_streams(["a", "b"], {"x": [1.0, 2.0]}) is None
    lower = rank_streams(["a", "b"], {"x": [1.0, 2.0], "y": [1.0, 3.0]}, lower_is_better=True)
    assert lower is not None and lower.names == ("a", "b")


def test_a_name_may_have_values(groups: list[RunGroup]) -> None:
    assert len(pick_groups(groups, "ncm,metric=cosine")) == 1
    assert pick_groups(groups, "nobody") == []


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("svg", b"<?xml"),
        slow("png", b"\x89PNG"),
        slow("pdf", b"%PDF"),
    ],
)
def test_pictures_of_every_stream(groups: list[RunGroup], tmp_path: Path, kind: str, start: bytes) -> None:
    names = {path.name for path in plot_comparison(groups).save(tmp_path, kind)}
    wanted = {
        f"digits-{s}-{n}"
        for s in ("class-incremental", "task-incremental")
        for n in ("accuracy", "bytes", "forgetting")
    }
    wanted |= {"digits-single-task-accuracy", "digits-single-task-bytes"}
    assert names == {f"{name}.{kind}" for name in wanted}
    assert all((tmp_path / name).read_bytes().startswith(start) for name in names)


@pytest.mark.slow
def test_a_picture_is_as_wide_as_a_column_and_the_same_each_time(groups: list[RunGroup], tmp_path: Path) -> None:
    from PIL import Image

    groups = select_groups(groups, ["scenario=single-task"])
    (path, *_) = plot_comparison(groups).save(tmp_path / "a")
    assert Image.open(path).width == round(3.35 * 300)
    (wide, *_) = plot_comparison(groups, "page").save(tmp_path / "b")
    assert Image.open(wide).width == round(6.9 * 300)
    for kind in ("svg", "pdf"):
        (one, *_), (two, *_) = (plot_comparison(groups).save(tmp_path / place, kind) for place in "cd")
        assert one.read_bytes() == two.read_bytes()
    with pytest.raises(ConfigError, match="did you mean 'column'"):
        plot_comparison(groups, "colum")
    with pytest.raises(DataError, match="no complete run"):
        plot_comparison([])
