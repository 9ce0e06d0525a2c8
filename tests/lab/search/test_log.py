"""The log of a search: a line that cannot be read is named by its number."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kenyon.errors import DataError
from kenyon.lab.search import DONE, SearchFolder
from kenyon.lab.search._log import Evaluation, Log
from kenyon.lab.search._objective import Outcome

SPACE = '[rule]\nvalues = ["gen", "mse"]\n[n_hidden]\nlow = 100\nhigh = 300\n[gen.b2]\nlow = -2.0\nhigh = -0.5\n'


@pytest.fixture
def folder(tmp_path: Path) -> SearchFolder:
    """A search with three evaluations, on lines 2 to 4."""
    (tmp_path / "space.toml").write_text(SPACE)
    found = SearchFolder(tmp_path)
    log = Log(found.log_path, found.space())
    for number in range(3):
        point = {"rule": "mse", "n_hidden": 150, "gen.b2": math.nan}
        log.append(Evaluation(number, point, Outcome(DONE, 0.5, "", 1.0), 2.0, "holdout"))
    log.close()
    assert len(found.evaluations()) == 3
    return found


DAMAGE = {
    "a cell too few": (b"1,done,0.5,1.000,2.000", b"1,done,0.5,2.000", 3),
    "a cell too many": (b"2,done", b"2,done,done", 4),
    "no number": (b"0,done,0.5", b"0,done,half", 2),
    "no integer": (b"2,done", b"two,done", 4),
    "not in the space": (b"mse,150,nan\n2", b"mse,many,nan\n2", 3),
    "not UTF-8": (b"1,done,0.5", b"1,done,\xff", 3),
    "an empty line": (b"\n1,done", b"\n\n1,done", 3),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_bad_line_is_named(folder: SearchFolder, kind: str) -> None:
    before, after, line = DAMAGE[kind]
    content = folder.log_path.read_bytes()
    assert before in content
    folder.log_path.write_bytes(content.replace(before, after, 1))
    with pytest.raises(DataError, match=rf"evaluations\.csv, line {line}: "):
        folder.evaluations()


def test_a_log_of_another_space_is_named(folder: SearchFolder) -> None:
    folder.log_path.write_bytes(folder.log_path.read_bytes().replace(b"n_hidden", b"density", 1))
    with pytest.raises(DataError, match=r"evaluations\.csv, line 1: it has the columns .*density.* another space"):
        folder.evaluations()
