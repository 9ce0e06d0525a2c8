"""The folder of a search: what was asked for, and a line for every evaluation that has ended.

    search.toml       objective, method and seed; a search is only continued with the same
    space.toml        the space, word for word
    evaluations.csv   one line per evaluation, in the order in which they ended; inactive parameters are `nan`
    best.toml         the best configuration so far, for `kenyon run --config`

A line is on the disk before its evaluation counts as done. A process that is killed may leave an incomplete last line,
which is cut off when the file is next opened.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kenyon.errors import ConfigError, DataError
from kenyon.lab.search._objective import DONE, Objective, Outcome
from kenyon.lab.search._space import Point, Space, load_space
from kenyon.utils.system import locked, replace_file, to_toml

FIELDS = ("number", "status", "accuracy", "seconds", "finished", "protocol", "reason")


@dataclass(frozen=True)
class Evaluation:
    """One line of the log.

    Attributes:
        number: counted from 0 in the order of the suggestions.
        point: the parameters; NaN where inactive.
        outcome: how it ended.
        finished: after how many seconds of searching it ended.
        protocol: what its accuracy was measured on.
    """

    number: int
    point: Point
    outcome: Outcome
    finished: float
    protocol: str

    @property
    def choice(self) -> str:
        """The rule, or whatever the space begins with a choice of."""
        return str(next(iter(self.point.values())))


class Log:
    """`evaluations.csv`, open for appending; the lock of the folder must be held."""

    def __init__(self, path: Path, space: Space) -> None:
        self.space = space
        self.evaluations = read_log(path, space)
        self._file = open(path, "a+b")  # noqa: SIM115 - stays open for the search
        content = path.read_bytes()
        self._file.truncate(content.rfind(b"\n") + 1)  # a torn last line
        if b"\n" not in content:
            self._write([*FIELDS, *space.names])

    def append(self, evaluation: Evaluation) -> None:
        """Write a line and wait until it is on the disk."""
        outcome = evaluation.outcome
        accuracy = "" if outcome.accuracy is None else repr(outcome.accuracy)
        head = [evaluation.number, outcome.status, accuracy, f"{outcome.seconds:.3f}", f"{evaluation.finished:.3f}"]
        row = [*head, evaluation.protocol, " ".join(outcome.reason.split())]
        self._write([*row, *(evaluation.point[name] for name in self.space.names)])
        self.evaluations.append(evaluation)

    def _write(self, row: list) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(row)
        self._file.write(text.getvalue().encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def read_log(path: Path, space: Space) -> list[Evaluation]:
    """Every complete line of a log; one that cannot be read is named by its number."""
    if not path.exists():
        return []
    content = path.read_bytes()
    lines = csv.reader(io.StringIO(content[: content.rfind(b"\n") + 1].decode(errors="surrogateescape")))
    columns, evaluations = [*FIELDS, *space.names], []
    try:
        for row in lines:
            if lines.line_num == 1:
                if row != columns:
                    raise DataError(f"it has the columns {', '.join(row)}: it belongs to another space")
            else:
                evaluations.append(_evaluation(dict(zip(columns, row, strict=True)), space))
    except (csv.Error, ValueError, KeyError, DataError) as error:
        raise DataError(f"{path}, line {lines.line_num}: {error}") from error
    return evaluations


def _evaluation(row: dict[str, str], space: Space) -> Evaluation:
    accuracy = float(row["accuracy"]) if row["accuracy"] else None
    outcome = Outcome(row["status"], accuracy, row["reason"], float(row["seconds"]))
    point = {parameter.name: parameter.parse(row[parameter.name]) for parameter in space.parameters}
    return Evaluation(int(row["number"]), point, outcome, float(row["finished"]), row["protocol"])


def best_of(evaluations: list[Evaluation]) -> Evaluation | None:
    """The evaluation with the highest accuracy; the first one where several are equal."""
    done = [e for e in evaluations if e.outcome.status == DONE]
    return max(done, key=lambda e: (e.outcome.score, -e.number)) if done else None


def by_choice(evaluations: list[Evaluation]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows of a table: evaluations and best accuracy of each rule, or layer, whichever is chosen first.

    Example:
        >>> by_choice([])
        (('rule', 'evaluations', 'of them given up', 'best'), [])
    """
    rows = []
    for rule in sorted({e.choice for e in evaluations}):
        own = [e for e in evaluations if e.choice == rule]
        best, done = best_of(own), sum(e.outcome.status == DONE for e in own)
        shown = f"{100 * best.outcome.score:.2f}" if best else "-"
        rows.append((best.outcome.score if best else -1.0, (rule, str(len(own)), str(len(own) - done), shown)))
    rows.sort(key=lambda row: -row[0])
    first = next(iter(evaluations[0].point)) if evaluations else "rule"
    return (first, "evaluations", "of them given up", "best"), [row for _, row in rows]


class SearchFolder:
    """A search on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        return (self.path / "search.toml").exists()

    @property
    def log_path(self) -> Path:
        return self.path / "evaluations.csv"

    def space(self) -> Space:
        """The space as the folder has it; the names in it were checked when the search began."""
        return load_space(self.path / "space.toml", check=False)

    def evaluations(self) -> list[Evaluation]:
        return read_log(self.log_path, self.space())

    def begin(self, description: dict, space_text: str) -> None:
        """Write what is asked for; refuse to continue a search that asked for something else."""
        text = to_toml(description)
        for name, wanted in (("search.toml", text), ("space.toml", space_text)):
            path = self.path / name
            if path.exists() and path.read_text(encoding="utf-8") != wanted:
                raise ConfigError(
                    f"{self.path} holds a search with another {name}: name another folder with --out, or ask the same"
                )
        replace_file(self.path / "space.toml", space_text.encode())
        replace_file(self.path / "search.toml", text.encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder; refuse where another process holds it."""
        self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path / ".lock", wait=False) as held:
            if not held:
                raise ConfigError(f"another process is searching in {self.path}: wait for it or name another")
            yield

    def write_best(self, best: Evaluation, objective: Objective, command: str) -> None:
        """`best.toml`, for `kenyon run --config`."""
        config = objective.final_config(self.space().options(best.point)).to_dict()
        chosen = self.space().options(best.point)
        config["options"] = {name: config["options"][name] for name in chosen}
        marked = "selected on the TEST SET, as the paper did" if best.protocol == "paper" else "test set never opened"
        measured = "the test set" if best.protocol == "paper" else "held-out training samples"
        score = f"{100 * best.outcome.score:.2f} % on {measured}"
        head = f"# Found by: {command}\n# Evaluation {best.number}: {score}; {marked}.\n"
        replace_file(self.path / "best.toml", (head + to_toml(config)).encode())
