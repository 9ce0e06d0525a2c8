"""CSV and Parquet tables as data sets: one sample per row, with one column of labels and other columns of numbers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.data.streams._arrays import from_arrays
from kenyon.data.streams._dataset import Dataset
from kenyon.data.streams._reading import check_name, check_unpacked, reading
from kenyon.errors import DataError, nearest, require

_BLOCK = 1024
_SHOWN = 50
"""Characters of a cell and names of columns that an error shows."""
Table = tuple[tuple[str, ...], NDArray, NDArray, list[str] | None]


def read_table(
    path: Path, label: str = "label", test_share: float = 0.2, domain: str | None = None, fewest_classes: int = 2
) -> Dataset:
    """The data set in a `.csv` or `.parquet` file, or in a folder with `train` and perhaps `test` of them.

    Args:
        path: the file or folder.
        label: the name of the label column.
        test_share: the share of every class that is kept for testing where there is no test table.
        domain: the name of the column of domains, if there is one.
        fewest_classes: fewer are refused.
    """
    train, test = (find_table(path, "train"), find_table(path, "test")) if path.is_dir() else (path, None)
    assert train is not None  # a folder is only read as tables when it has a training table
    columns, X, y, where = _read(train, label, domain)
    if (unlabelled := _empty(y)).all():
        raise DataError(f"{train}: no row has a label in the column {label!r}: expected some")
    X, y, more = X[~unlabelled], _plain(train, y[~unlabelled]), X[unlabelled]
    of_train = of_more = None
    if where is not None:
        of_train, of_more = np.array(where)[~unlabelled], np.array(where)[unlabelled]
    if test is None:
        return from_arrays(
            X,
            y,
            name=path.name,
            test_share=test_share,
            X_unlabelled=more,
            domains=None if where is None else (of_train, None, of_more),
            fewest_classes=fewest_classes,
        )
    test_columns, X_test, y_test, of_test = _read(test, label, domain)
    if (nobody := _empty(y_test)).any():
        raise DataError(f"{test}, row {int(nobody.argmax()) + 1}: the label is empty: expected one to test by")
    y_test = _plain(test, y_test)
    if test_columns != columns:
        raise DataError(f"{test} has the columns {_some(test_columns)}; {train.name} has {_some(columns)}")
    if X.dtype != X_test.dtype:
        X, X_test, more = X.astype(np.float32), X_test.astype(np.float32), more.astype(np.float32)
    domains = None if where is None else (of_train, of_test, of_more)
    return from_arrays(
        X, y, X_test, y_test, name=path.name, X_unlabelled=more, domains=domains, fewest_classes=fewest_classes
    )


def find_table(folder: Path, stem: str) -> Path | None:
    """The table `stem.csv` or `stem.parquet` in a folder."""
    return next((file for suffix in (".csv", ".parquet") if (file := folder / f"{stem}{suffix}").is_file()), None)


def _read(path: Path, label: str, domain: str | None) -> Table:
    read = _read_csv if path.suffix.lower() == ".csv" else _read_parquet
    return read(path, label, domain)


def _some(columns: Sequence[str]) -> str:
    """The names of the first columns."""
    text = ", ".join(columns[:_SHOWN])
    return text[: 10 * _SHOWN] + (", ..." if len(columns) > _SHOWN or len(text) > 10 * _SHOWN else "")


def _check_columns(path: Path, columns: list[str], label: str, domain: str | None) -> None:
    for name, what in ((label, "labels"), (domain, "domains")):
        if name is not None and name not in columns:
            raise DataError(
                f"{path} has no column {name!r} to take {what} from: it has {_some(columns)}{nearest(name, columns)}"
            )
    if domain == label:
        raise DataError(f"{path}: domain and label are both {label!r}: expected two columns")
    if len(columns) < (2 if domain is None else 3):
        raise DataError(f"{path} has no column besides {label!r}{f' and {domain!r}' if domain else ''}")
    if len(set(columns)) < len(columns):
        raise DataError(f"{path} has two columns of one name: {_some(columns)}")


def _read_csv(path: Path, label: str, domain: str | None) -> Table:
    """Rows are turned into float32 a block at a time, so that the text of a large file is never held."""
    blocks: list[NDArray[np.float32]] = []
    labels: list[str] = []
    domains: list[str] = []
    rows: list[list[str]] = []
    with reading(path, "cannot be read as CSV"), path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        columns = [name.strip() for name in next(reader, [])]
        _check_columns(path, columns, label, domain)
        n_columns = len(columns)
        place, of_domain = columns.index(label), None if domain is None else columns.index(domain)
        apart = sorted({place} if of_domain is None else {place, of_domain}, reverse=True)
        for number in apart:
            del columns[number]
        for row in reader:
            if not row:
                continue
            if len(row) != n_columns:
                raise DataError(f"{path}, line {reader.line_num}: {len(row)} cells, the header has {n_columns}")
            labels.append(row[place].strip())
            if of_domain is not None:
                domains.append(_domain(path, len(labels), row[of_domain].strip()))
            for number in apart:
                del row[number]
            rows.append(row)
            if len(rows) == _BLOCK:
                blocks.append(_numbers(path, columns, rows, len(labels) - len(rows)))
                rows = []
    if rows:
        blocks.append(_numbers(path, columns, rows, len(labels) - len(rows)))
    if not blocks:
        raise DataError(f"{path} has a header but no row")
    return tuple(columns), np.concatenate(blocks), _label_array(path, labels), domains if domain else None


def _domain(path: Path, row: int, value: str) -> str:
    if not value:
        raise DataError(f"{path}, row {row}: the domain is empty: expected one")
    check_name(path, f", row {row}", value)
    return value


def _numbers(path: Path, columns: list[str], rows: list[list[str]], first: int) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite and is named below
            block = np.array(rows, object).astype(np.float32)  # as objects: one long cell does not widen the others
    except ValueError:
        block = np.full((len(rows), len(columns)), np.nan, np.float32)
    if not np.isfinite(block).all():
        for number, row in enumerate(rows):
            for column, cell in zip(columns, row, strict=True):
                if not _is_number(cell):
                    raise DataError(
                        f"{path}, row {first + number + 1}, column {column!r}: {cell[:_SHOWN]!r} is not a finite number"
                    )
    return block


def _is_number(cell: str) -> bool:
    try:
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.float32(cell)))
    except ValueError:
        return False


def _empty(labels: NDArray) -> NDArray[np.bool_]:
    """Rows without a label."""
    return np.array([label is None or label == "" for label in labels.tolist()], bool)


def _plain(path: Path, labels: NDArray) -> NDArray:
    """The labels of rows that have one."""
    return _label_array(path, [str(label) for label in labels.tolist()]) if labels.dtype == object else labels


def _label_array(path: Path, labels: list[str]) -> NDArray:
    """Integers where every label is one, so that 10 comes after 9; else texts, as objects where some are empty."""
    if "" in labels:
        return np.array([label or None for label in labels], object)
    for row, label in enumerate(labels):
        check_name(path, f", row {row + 1}", label)
    try:
        return np.array([int(text) for text in labels], np.int64)
    except (ValueError, OverflowError):
        return np.array(labels)


def _read_parquet(path: Path, label: str, domain: str | None) -> Table:
    parquet = require("pyarrow.parquet", "data", "reading Parquet files")
    arrow = require("pyarrow", "data", "reading Parquet files")
    with reading(path, "cannot be read as Parquet"), parquet.ParquetFile(path) as file:
        about = file.metadata
        check_unpacked(path, 8 * about.num_rows * about.num_columns)
        table = file.read()
    _check_columns(path, table.column_names, label, domain)
    columns = tuple(name for name in table.column_names if name not in (label, domain))
    if not len(table):
        raise DataError(f"{path} has columns but no row")
    with reading(path, "cannot be read as Parquet"):
        arrays = [_column(path, name, table.column(name), arrow) for name in columns]
        labels = table.column(label).to_pylist()
        where = None if domain is None else table.column(domain).to_pylist()
    labels = ["" if value is None else value for value in labels]
    whole = all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in labels)
    y = np.array(labels, np.int64) if whole else _label_array(path, [str(value) for value in labels])
    bytes_only = all(array.dtype == np.uint8 for array in arrays)
    X = np.empty((len(table), len(columns)), np.uint8 if bytes_only else np.float32)
    with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused with its place
        for number, array in enumerate(arrays):
            X[:, number] = array
    texts = ((row, "" if value is None else str(value)) for row, value in enumerate(where or [], start=1))
    return columns, X, y, None if where is None else [_domain(path, row, text) for row, text in texts]


def _column(path: Path, name: str, column: Any, arrow: Any) -> NDArray:
    if not (
        arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type) or column.type == arrow.bool_()
    ):
        raise DataError(f"{path}, column {name!r} is of type {column.type}: expected numbers")
    if column.null_count:
        row = next(number for number, value in enumerate(column) if not value.is_valid)
        raise DataError(f"{path}, row {row + 1}, column {name!r}: the cell is empty")
    return column.to_numpy()
