"""The paper's numbers, spot by spot, and the shape of every table."""

from __future__ import annotations

import pytest

from kenyon.errors import ConfigError
from kenyon.learners import LEARNERS
from kenyon.paper.tables import figure_source, paper_dimension, paper_distances, paper_table, table_names

SHAPES = {
    "single_configurations": (6, 11),
    "single_accuracies": (2, 4),
    "comparison": (16, 4),
    "transfer": (5, 8),
    "effective_dimension": (1, 4),
    "centroid_distances": (3, 3),
    "class_configurations": (2, 11),
    "comparison_extended": (17, 6),
    "ablations": (4, 1),
}
SPOTS = [
    ("single_configurations", {"dataset": "mnist", "rule": "mse"}, "gamma^M", (0.582,)),
    ("single_configurations", {"dataset": "cifar10", "rule": "inel"}, "Acc.", (77.96,)),
    ("single_configurations", {"dataset": "emnist-digits"}, "alpha^M", (0.350,)),
    ("single_accuracies", {"learner": "phsic"}, "cifar10", (46.4,)),
    ("single_accuracies", {"learner": "kenyon"}, "cifar10", (73.24,)),
    ("comparison", {"learner": "der++"}, "cifar10/class-incremental", (54.08,)),
    ("comparison", {"configuration": "opt"}, "mnist/class-incremental", (78.76,)),
    ("comparison", {"learner": "rpsnet"}, "mnist/task-incremental", None),
    ("transfer", {"dataset": "fashion-mnist"}, "cifar10/task-incremental", (94.37,)),
    ("class_configurations", {"dataset": "cifar10"}, "beta_2^M", (0.920,)),
    ("comparison_extended", {"learner": "lwf"}, "cifar10/class-incremental", (18.53, 0.12)),
    ("comparison_extended", {"learner": "cn-dpm"}, "mnist/class-incremental", (93.81, 0.07)),
    ("comparison_extended", {"configuration": "opt-mnist"}, "cifar100/class-incremental", (25.56, 0.69)),
    ("comparison_extended", {"configuration": "transfer-mse"}, "cifar100/task-incremental", (83.17, 0.15)),
    ("ablations", {"ablation": "threshold"}, "mnist/single-task", (23.24,)),
]


def test_every_table_has_all_its_rows_and_columns() -> None:
    assert {name: (len(paper_table(name).rows), len(paper_table(name).columns)) for name in table_names()} == SHAPES
    numbers = sorted(paper_table(name).number for name in table_names())
    assert numbers == ["", *"12345678"]


@pytest.mark.parametrize(("table", "keys", "column", "value"), SPOTS)
def test_spot_values(table: str, keys: dict[str, str], column: str, value: tuple[float, ...] | None) -> None:
    assert paper_table(table).value(column, **keys) == value


def test_how_many_numbers() -> None:
    counts = {name: sum(value is not None for row in paper_table(name).rows for value in row.values) for name in SHAPES}
    assert counts["comparison"] == 11 * 4 + 2 * 1 + 3 * 2
    assert counts["comparison_extended"] == 11 * 6 + 2 * 2 + 2 * 3 + 2 * 3
    assert counts["transfer"] == 5 * 7 and counts["centroid_distances"] == 6


def test_every_method_of_the_comparison_can_be_run_here() -> None:
    for name in ("comparison", "comparison_extended"):
        learners = [row.keys["learner"] for row in paper_table(name).rows if "learner" in row.keys]
        assert len(learners) == 13 and set(learners) <= set(LEARNERS)


def test_captions_are_cited_with_their_place() -> None:
    assert paper_table("transfer").source.startswith("“Accuracy due to transfer metalearning from single task")
    assert paper_table("transfer").source.endswith("(Table 4)")
    assert figure_source("weight-evolution").endswith("(Figure 4)")


def test_names_that_are_not_there() -> None:
    with pytest.raises(ConfigError, match="did you mean 'comparison'"):
        paper_table("comparisons")
    with pytest.raises(ConfigError, match="unknown figure"):
        figure_source("architecture")
    with pytest.raises(ConfigError, match="no row"):
        paper_table("ablations").row(ablation="everything")


def test_metrics_by_any_spelling() -> None:
    assert paper_dimension("cifar-10") == 132.60 and paper_dimension("mine.npz") is None
    assert paper_distances("fashion-mnist", "mnist") == paper_distances("mnist", "fashion-mnist") == (0.17, 0.54)
