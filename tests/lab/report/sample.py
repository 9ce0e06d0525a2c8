"""A report with every kind of cell and figure in it, and text that tries to be markup."""

from __future__ import annotations

from kenyon.lab.figures import Heatmap, Lines, Point, Scatter, Series
from kenyon.lab.report import ReportData, Run
from kenyon.lab.tables import Empty, Missing, PaperValue, Result, Row, Table, Text, Value

EVIL = "</script><script>window.evil=1</script><img src=x onerror='window.evil=1'>"
RUN, OTHER = "mnist-class-incremental-kenyon-gen-s0-0123456789ab", "mnist-class-incremental-er-s0-ba9876543210"


def sample() -> ReportData:
    """The report."""
    return ReportData(
        title="Reproduction & <more>",
        subtitle=f"every kind of part {EVIL}",
        command="kenyon reproduce all --quick",
        made="2026-01-02T03:04:05+00:00",
        quick=True,
        kenyon="0.1.0",
        machine={"processor": "A <processor>", "cores": 2, "torch": None},
        tables=(_comparison(), _configurations()),
        figures=(_bytes("Split-MNIST"), _bytes("Split-CIFAR-10"), _stream(), *_matrices(), _transfer()),
        runs={
            RUN: Run('dataset = "mnist"\nseeds = [0]\n', "kenyon run --config runs/a/config.toml", 0, 0.9157, {}, RUN),
            OTHER: Run(f"# {EVIL}", f"kenyon run '{EVIL}'", 0, None, {}, OTHER),
        },
    )


def _comparison() -> Table:
    command = "kenyon run --dataset mnist --seeds 5"
    good = Result(91.57, 0.43, 5, "%", Value(83.13, 0.9), "higher", (RUN,), command, best=True)
    bad = Result(72.5, None, 1, "%", Value(80.0), "higher", (OTHER,), command, remark="One seed explains it")
    equal = Result(50.0, 0.1, 5, "%", Value(50.0), "higher", (OTHER,), command)
    lower = Result(3.2, 0.5, 5, "%", Value(4.0, 0.1), "lower", (RUN,), command)
    stand_in = Result(61.0, 0.2, 5, "%", Value(70.0, 0.1), "higher", (RUN,), command, stand_in="Lite0 for WRN-50")
    missing = Missing("no EMNIST files here", "kenyon run --dataset emnist", Value(77.0, 0.3))
    rows = (
        Row(
            "Kenyon GEN",
            (good, stand_in, lower, Result(440_000.0, None, 5, "B", None, "lower", (RUN,), command)),
            "ours",
        ),
        Row(f"ER {EVIL}", (bad, missing, Empty(), Result(1_250_000.0, 2000.0, 5, "B")), "others"),
        Row("LwF", (equal, missing, Missing("another reason"), Empty()), "others"),
    )
    columns = ("Split-MNIST", "Split-EMNIST", "forgetting", "state")
    source = "Accuracy of all methods, class-incremental (Table 3)"
    return Table("table-3", "Class-incremental comparison", columns, rows, source, "Mean of five seeds.")


def _configurations() -> Table:
    dies = Text("MSE diverges", "kenyon run --rule mse --clamp off")
    rows = (
        Row("MNIST", (PaperValue(0.0412, None), Result(0.04, n=1, runs=(RUN,)), Text("GEN, then <INEL>"))),
        Row("CIFAR-10", (PaperValue(12.5, 0.25, "MB"), Result(3.5, None, 1, "MB", Value(7.0), "lower"), dies)),
    )
    return Table("table-1", "Configurations", ("paper", "ours", "rule"), rows)


def _bytes(name: str) -> Scatter:
    points = (
        Point(440_000.0, 91.57, "Kenyon GEN", "Kenyon", RUN, "five seeds", 0.43),
        Point(2_656.0, 84.2, "NCM", "no samples kept"),
        Point(1_500_000.0, 88.0, f"ER {EVIL}", "replay", OTHER, "", 1.2),
        Point(1_450_000.0, 20.0, "fine-tune", "no samples kept"),
    )
    title = f"Accuracy against bytes of state: {name}"
    own = f"bytes-{name.lower()}"
    return Scatter(own, title, "state, bytes", "accuracy, %", points, x_log=True, frontier=True, note="Up is better.")


def _stream() -> Lines:
    x = tuple(float(i) for i in range(1, 101))
    rising = Series("rising", x, tuple(50 + i / 4 for i in range(100)), (tuple([40.0] * 100), tuple([80.0] * 100)))
    gap = Series("with a gap", x, tuple(None if 40 <= i < 50 else 90 - i / 10 for i in range(100)))
    return Lines(
        "stream", "Accuracy over the stream", "samples", "accuracy, %", (rising, gap), marks=(50.0,), runs=(RUN,)
    )


def _matrices() -> tuple[Heatmap, ...]:
    words = {"rows": ("1", "2"), "columns": ("1", "2"), "unit": "%", "row_label": "after", "column_label": "on"}
    return tuple(
        Heatmap(
            f"matrix-{i}", "Accuracy matrix", values=((99.0, None), (90.0 - i, 95.5)), series=name, runs=(RUN,), **words
        )
        for i, name in enumerate(("Kenyon", "ER"))
    )


def _transfer() -> Heatmap:
    names = ("MNIST", "Fashion-MNIST", "CIFAR-10")
    values = ((0.0, -3.2, 1.5), (2.5, 0.0, None), (-7.25, 0.4, 0.0))
    return Heatmap("transfer", "Transfer: accuracy drop", names, names, values, "", source="Transfer matrix (Table 4)")
