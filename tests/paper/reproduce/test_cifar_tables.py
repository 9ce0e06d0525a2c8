"""The tables that the paper does not have: CIFAR on the same features, CIFAR from pixels, permuted MNIST."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

from kenyon.lab.evaluation import run
from kenyon.learners import LEARNERS
from kenyon.learners.baselines import grid_of
from kenyon.paper.reproduce import Setting
from kenyon.paper.reproduce._wanted import Gap, Runs, Sheet, Wanted
from kenyon.paper.reproduce.experiments import EXPERIMENTS

ALL = frozenset({"mnist", "fashion-mnist", "cifar10", "cifar100"})


def sheet(name: str, setting: Setting) -> Sheet:
    setting.__dict__["present"] = ALL
    found, *_ = EXPERIMENTS[name].parts(setting)
    assert isinstance(found, Sheet)
    return found


def cells(table: Sheet) -> dict[tuple[str, str], Wanted]:
    return {
        (line.label, column): cell
        for line in table.lines
        for column, cell in zip(table.columns, line.cells, strict=True)
    }


def test_every_method_learns_the_same_features(tmp_path: Path) -> None:
    found = cells(sheet("features", Setting(tmp_path)))
    runs = [cell for cell in found.values() if isinstance(cell, Runs)]
    assert not any(isinstance(cell, Gap) for cell in found.values())
    assert {cell.config.backbone["name"] for cell in runs} == {"efficientnet-lite0"}  # type: ignore[index]
    assert {cell.config.curriculum.class_order for cell in runs} == {"sorted"}
    assert {cell.seeds for cell in runs} == {(0, 1, 2, 3, 4)}
    labels = {label for label, _ in found}
    assert {"DER++", "Online EWC", "RPSNet", "CN-DPM", "NCM", "Kenyon, a rule", "Kenyon, second-order, 4 MB"} <= labels
    assert len(found) == 4 * len(labels) and len(runs) == len(found) - 2  # InstAParam must be given the task


def test_gradient_methods_have_the_values_chosen_on_these_features(tmp_path: Path) -> None:
    found = cells(sheet("features", Setting(tmp_path)))
    cell = found["ER", "Class-incremental, Split-CIFAR-100"]
    assert isinstance(cell, Runs) and cell.config.options["hidden"] == [100]
    assert cell.config.options["lr"] in grid_of("er")["lr"]


def test_the_comparison_shows_them_as_stand_ins(tmp_path: Path) -> None:
    setting = Setting(tmp_path)
    setting.__dict__["present"] = ALL
    three, eight = EXPERIMENTS["comparison"].parts(setting)
    assert isinstance(three, Sheet) and isinstance(eight, Sheet)
    for table in (three, eight):
        for (label, column), cell in cells(table).items():
            if "CIFAR" in column and isinstance(cell, Runs) and label in ("DER++", "RPSNet", "iCaRL"):
                assert cell.stand_in and "in place of ResNet-18" in cell.stand_in
            if isinstance(cell, Gap):
                assert "wide-ResNet50" in label


@pytest.mark.parametrize(
    ("resnet", "width", "seeds"), [(True, 64, (0, 1, 2, 3, 4)), (True, 20, (0,)), (False, 64, None)]
)
def test_pixels_are_run_on_request(tmp_path: Path, resnet: bool, width: int, seeds: tuple[int, ...] | None) -> None:
    found = cells(sheet("pixels", Setting(tmp_path, resnet=resnet, width=width)))
    cell = found["DER++", "Task-incremental, Split-CIFAR-10"]
    if seeds is None:
        assert isinstance(cell, Gap) and "--resnet" in cell.reason and cell.command
    else:
        assert isinstance(cell, Runs) and cell.seeds == seeds and cell.config.options["width"] == width
        assert (cell.stand_in is None) == (width == 64)


def test_pixels_go_where_they_are_told(tmp_path: Path) -> None:
    found = cells(sheet("pixels", Setting(tmp_path, resnet=True, device="mps")))
    for cell in found.values():
        assert not isinstance(cell, Runs) or cell.config.options["device"] == "mps"
    own = found["CN-DPM", "Class-incremental, Split-CIFAR-10"]
    assert isinstance(own, Runs) and own.config.options["network"] == "cnn"


def test_cifar_100_from_pixels_has_ours_beside_three_methods(tmp_path: Path) -> None:
    sheet("pixels", asked := Setting(tmp_path, resnet=True, width=20, device="mps"))
    _, table = EXPERIMENTS["pixels"].parts(asked)
    assert isinstance(table, Sheet) and [line.label for line in table.lines][-1] == "Kenyon, 5MB"
    for (label, _), cell in cells(table).items():
        assert isinstance(cell, Runs) and cell.config.dataset == "cifar100" and cell.seeds == (0,)
        own = label.startswith("Kenyon")
        assert cell.config.options.get("width") == (None if own else 20) and (cell.stand_in is None) == own
        assert own or cell.config.options["device"] == "mps"


def test_methods_with_networks_of_their_own_do_not_hide_behind_resnet(tmp_path: Path) -> None:
    found = cells(sheet("pixels", Setting(tmp_path)))
    reasons = {label: cell.reason for (label, _), cell in found.items() if isinstance(cell, Gap)}
    assert not any("ResNet-18" in reasons[label] for label in ("RPSNet", "InstAParam", "CN-DPM"))


def test_permuted_mnist_has_a_table(tmp_path: Path) -> None:
    table = sheet("permuted", Setting(tmp_path))
    scenarios = {
        cell.config.curriculum.scenario for line in table.lines for cell in line.cells if isinstance(cell, Runs)
    }
    assert scenarios == {"permuted"} and len(table.lines) >= 14
    assert all(isinstance(cell, Runs) for line in table.lines for cell in line.cells)


@pytest.mark.parametrize("run_before", [False, True])
def test_what_the_narrower_network_reached_is_shown_unasked(
    run_before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Setting, "has", lambda self, job: run_before and job.config.options.get("width") == 20)
    cell = cells(sheet("pixels", Setting(tmp_path)))["DER++", "Class-incremental, Split-CIFAR-10"]
    assert isinstance(cell, Runs) == run_before
    if isinstance(cell, Runs):
        assert cell.stand_in and cell.stand_in.endswith("with 20 filters in its first stage in place of 64")
        assert cell.below and cell.above
        assert cell.config.options["alpha"] == 0.2 and not cell.config.options["mixed_precision"]


def test_permuted_runs_fill_both_columns(tmp_path: Path) -> None:
    from kenyon.paper.reproduce._wanted import Results

    table = sheet("permuted", Setting(tmp_path))
    line = next(line for line in table.lines if line.label == "NCM")
    small = replace(line.cells[0].config, dataset="digits")  # type: ignore[union-attr]
    run(small, [0], tmp_path)
    one = replace(table, lines=(replace(line, cells=tuple(replace(c, config=small) for c in line.cells)),))  # type: ignore[type-var]
    (drawn,) = one.draw(Results(tmp_path))
    assert [getattr(cell, "unit", None) for cell in drawn.rows[0].cells] == ["%", "MB"]  # type: ignore[union-attr]


def test_every_method_of_any_scenario_is_somewhere() -> None:
    """What a table leaves out is said at its definition."""
    from kenyon.paper.reproduce.experiments._methods import methods
    from kenyon.paper.reproduce.experiments._permuted import LEFT_OUT

    assert set(LEFT_OUT) < set(methods()) and set(methods()) < set(LEARNERS)
