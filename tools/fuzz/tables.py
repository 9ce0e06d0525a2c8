"""Tables of text: a data set as CSV, and the log of a search."""

from __future__ import annotations

import random
from pathlib import Path
from typing import ClassVar

import numpy as np

from fuzz.mutate import TEXTS, any_value, mutated_bytes
from fuzz.target import Target
from kenyon.data.streams import load_dataset
from kenyon.errors import KenyonError
from kenyon.lab.search import SearchFolder

SPACE = '[rule]\nvalues = ["gen", "mse"]\n[n_hidden]\nlow = 10\nhigh = 100\n[gen.b2]\nlow = -1.0\nhigh = 0.0\n'
LOG = (
    "number,status,accuracy,seconds,finished,protocol,reason,rule,n_hidden,gen.b2\n"
    "0,done,0.5,1.0,1.0,holdout,,gen,20,-0.5\n"
    "1,failed,,1.0,2.0,holdout,too much memory,mse,30,nan\n"
    "2,done,0.75,1.0,3.0,holdout,,mse,90,nan\n"
)
DATA = "width,height,label\n" + "".join(f"{n / 2},{n}e3,{'ab'[n % 2]}\n" for n in range(12))


class Tables(Target):
    """An error of ours that names the file, or finite numbers; every line of a log that was cut off is read."""

    name: ClassVar[str] = "tables"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "space.toml").write_text(SPACE)
        (folder / "search.toml").write_text("")
        self._log = folder / "evaluations.csv"
        self._log.write_text(LOG)
        if len(SearchFolder(folder).evaluations()) != 3:
            raise AssertionError("the log of the fuzzer itself cannot be read")

    def case(self, rng: random.Random) -> str:
        text = rng.choice((LOG, DATA))
        content = mutated_bytes(text.encode(), rng) if rng.random() < 0.5 else _other_cell(text, rng)
        path = self._log if text is LOG else self.folder / "data.csv"
        path.write_bytes(content)
        try:
            if text is LOG:
                SearchFolder(self.folder).evaluations()
            else:
                data = load_dataset(path)
                if not all(np.isfinite(split.X[:]).all() for split in (data.train, data.test)):
                    raise AssertionError("numbers that are not finite were read")
        except KenyonError as error:
            if path.name not in str(error):
                raise AssertionError(f"the file is not named: {error}") from error
            return "refused"
        return "read"


def _other_cell(text: str, rng: random.Random) -> bytes:
    """The table with one cell that holds something else."""
    rows = [line.split(",") for line in text.splitlines()]
    row = rng.choice(rows)
    row[rng.randrange(len(row))] = rng.choice((str(any_value(rng)), rng.choice(TEXTS), '"', '"a,b\n', "9" * 200_000))
    return "\n".join(",".join(row) for row in rows).encode(errors="surrogatepass") + b"\n"
