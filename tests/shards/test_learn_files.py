"""Files of every format, learned in shards: the model of a single pass, to the bit."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("pyarrow", reason="needs the extra 'data'")

from kenyon.cli import app
from kenyon.errors import ConfigError, DataError, MergeError
from kenyon.shards import LearnConfig, LearnWatch, ShardChangedError, _formats, learn_files, read_learn_config
from kenyon.shards._tree import Node, Tree
from shards.files import CONFIG, loaded, parts, samples, single_pass, table, write

LISTED = [".parquet", ".arrow", ".csv", ".npz"]


class Seen(LearnWatch):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.rows = self.n_learned = self.n_pieces = self.n_inspected = 0
        self.n_before: list[int] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    def inspected(self, shard: Any, done: int, total: int) -> None:
        self.n_inspected += 1

    def planned(self, n_shards: int, n_pieces: int, n_learned: int, rows: int | None) -> None:
        self.n_pieces = n_pieces
        self.n_before.append(n_learned)

    def learned(self, rows: int, n_learned: int) -> None:
        self.rows += rows
        self.n_learned = n_learned


@pytest.mark.parametrize("ending", LISTED)
def test_a_model_of_shards_is_the_model_of_a_single_pass(ending: str, tmp_path: Path) -> None:
    X, y = parts(tmp_path, 5, ending)
    config = LearnConfig(options=CONFIG.options, as_bytes=ending == ".csv")
    watch = Seen()
    done = learn_files(config, [str(tmp_path / "part-*")], tmp_path / "model", piece=60, watch=watch)
    assert (tmp_path / "model").read_bytes() == single_pass(X, y, tmp_path / "single", config)
    assert done.exact and done.rows == watch.rows == len(y) and Path(done.shards[0].path).stem == "part-0"
    assert not (tmp_path / "model.work").exists()
    assert watch.n_learned == watch.n_pieces == (10 if ending in (".parquet", ".arrow") else 5)


@pytest.mark.parametrize("kind", ["lists", "bytes"])
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_a_column_may_hold_all_features_of_a_row(kind: str, ending: str, tmp_path: Path) -> None:
    X, y = samples(200)
    file = write(tmp_path / f"part{ending}", X, y, kind)
    found = [batch for batch in _formats.batches_of(file, "label", (1, 4), False)]
    assert np.array_equal(np.concatenate([batch.X for batch in found]), X[50:200])
    assert np.array_equal(np.concatenate([batch.y for batch in found]), y[50:200])
    assert all(batch.X.dtype == np.uint8 for batch in found)


def test_numbers_texts_and_absent_labels(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = samples(90)
    words = [None if label < 0 else f"class {label}" for label in y]
    scaled = table(X / np.float32(2), y).set_column(X.shape[1], "label", pa.array(words))
    pq.write_table(scaled, tmp_path / "part.parquet")
    done = learn_files(
        LearnConfig(options={"rule": "mse", "n_hidden": 50}), [tmp_path / "part.parquet"], tmp_path / "m"
    )
    assert loaded(tmp_path / "m").classes_.tolist() == [f"class {k}" for k in range(5)]
    assert loaded(tmp_path / "m").n_samples_learned_ == int((y >= 0).sum()) and done.exact


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_the_tree_merges_every_piece_once_and_keeps_few_files(n: int, tmp_path: Path) -> None:
    def work(tree: Tree, steps: int) -> None:
        for _ in range(steps):
            node = tree.next()
            if node is None:
                break
            if node.is_leaf:
                node.file(tmp_path).write_text(f"{node.start} ")
            else:
                node.file(tmp_path).write_text("".join(child.file(tmp_path).read_text() for child in node.children))
            tree.end(node)
            assert len(list(tmp_path.iterdir())) <= 2 + n.bit_length()

    for steps in range(2 * n):  # killed after any number of steps, and begun again
        work(Tree(n, tmp_path), steps)
        rest = Tree(n, tmp_path)
        work(rest, 1000)
        assert rest.is_done and rest.learned == n
        assert Node(0, n).file(tmp_path).read_text().split() == [str(k) for k in range(n)]
        for file in tmp_path.iterdir():
            file.unlink()


# ---- again and again


def test_files_that_come_later_are_added_and_none_is_learned_twice(tmp_path: Path) -> None:
    X, y = parts(tmp_path, 6)
    out, pattern = tmp_path / "model", str(tmp_path / "part-*.parquet")
    first = sorted(tmp_path.glob("part-*"))[:4]
    assert learn_files(CONFIG, first, out).rows == 400
    watch = Seen()
    later = learn_files(CONFIG, [pattern], out, watch=watch)
    assert later.rows == 200 and watch.n_inspected == 2 and len(later.shards) == 6
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")
    again = learn_files(CONFIG, [pattern], out)
    assert again.rows == 0 and out.read_bytes() == (tmp_path / "single").read_bytes()
    (tmp_path / "part-9.parquet").write_bytes((tmp_path / "part-2.parquet").read_bytes())
    os.utime(tmp_path / "part-0.parquet")
    watch = Seen()
    assert learn_files(CONFIG, [pattern], out, watch=watch).rows == 0
    assert "part-9.parquet has the content of" in watch.notes[0]


def test_a_shard_that_changed_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    parts(tmp_path, 3)
    out, pattern = tmp_path / "model", str(tmp_path / "part-*.parquet")
    learn_files(CONFIG, [pattern], out)
    before = out.read_bytes(), (tmp_path / "model.shards.json").read_bytes()
    kept = (tmp_path / "part-1.parquet").read_bytes()
    write(tmp_path / "part-1.parquet", *samples(50, seed=7))
    with pytest.raises(ShardChangedError, match=r"part-1.parquet has changed since it was recorded"):
        learn_files(CONFIG, [pattern], out)
    assert (out.read_bytes(), (tmp_path / "model.shards.json").read_bytes()) == before
    (tmp_path / "part-1.parquet").write_bytes(kept)
    assert learn_files(CONFIG, [pattern], out).rows == 0


def test_a_shard_that_changes_while_it_is_learned_is_refused(tmp_path: Path) -> None:
    parts(tmp_path, 3)
    out, pattern = tmp_path / "model", str(tmp_path / "part-*.parquet")

    class Changes(Seen):
        def planned(self, *what: Any) -> None:
            write(tmp_path / "part-2.parquet", *samples(50, seed=7))

    with pytest.raises(ShardChangedError, match=r"part-2.parquet"):
        learn_files(CONFIG, [pattern], out, watch=Changes())
    assert not out.exists() and (tmp_path / "model.work" / "plan.json").exists()
    X, y = parts(tmp_path, 3)
    watch = Seen()
    learn_files(CONFIG, [pattern], out, watch=watch)
    assert watch.n_before == [2], "what was learned before the refusal was lost"
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")


# ---- refused


def test_what_cannot_be_learned_is_refused(tmp_path: Path) -> None:
    parts(tmp_path, 2)
    X, y = samples(30)
    write(tmp_path / "other.parquet", X[:, :-1], y)
    write(tmp_path / "half.csv", X / 2, y)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    (tmp_path / "broken.npz").write_bytes(b"PK")
    (tmp_path / "text.txt").write_text("a")
    write(tmp_path / "none.parquet", X, np.full(30, -1))
    np.savez(tmp_path / "odd.npz", X=X, y=y[:-1])
    mse = LearnConfig(options={"rule": "mse", "n_hidden": 50})
    cases: list[tuple[LearnConfig, list[str], type[Exception], str]] = [
        (CONFIG, ["missing-*.parquet"], DataError, "no such file"),
        (CONFIG, ["part-0.parquet", "other.parquet"], DataError, "other.parquet has the features p0"),
        (CONFIG, ["broken.parquet"], DataError, "broken.parquet cannot be read as Parquet"),
        (CONFIG, ["broken.npz"], DataError, "broken.npz is damaged"),
        (CONFIG, ["odd.npz"], DataError, "one label per sample"),
        (CONFIG, ["text.txt"], DataError, "expected a file that ends in .parquet"),
        (CONFIG, ["none.parquet"], DataError, "no sample in these files has a label"),
        (LearnConfig(options=CONFIG.options, label="digit"), ["part-0.parquet"], DataError, "no column 'digit'"),
        (LearnConfig(options=CONFIG.options, as_bytes=True), ["half.csv"], DataError, "whole number from 0 to 255"),
        (mse, ["part-*.parquet"], MergeError, "do not add up"),
    ]
    for config, names, kind, match in cases:
        with pytest.raises(kind, match=match):
            learn_files(config, [str(tmp_path / name) for name in names], tmp_path / "model")
        assert not (tmp_path / "model").exists() and not (tmp_path / "model.work").exists(), match
    learn_files(mse, [tmp_path / "part-0.parquet"], tmp_path / "model")  # a single piece needs no merging
    with pytest.raises(ConfigError, match="begun with another configuration"):
        learn_files(CONFIG, [tmp_path / "part-0.parquet"], tmp_path / "model")
    (tmp_path / "model.shards.json").unlink()
    with pytest.raises(ConfigError, match="without a record"):
        learn_files(mse, [tmp_path / "part-0.parquet"], tmp_path / "model")


@pytest.mark.parametrize(
    "text, match",
    [
        ("lable = 'x'", "did you mean 'label'"),
        ("seed = -1", "seed = -1"),
        ("classes = [1, 1]", "different labels"),
        ("as_bytes = 1", "true or false"),
        ("options = 3", "a table"),
        ("[options]\nn_hiden = 3", "did you mean 'n_hidden'"),
        ("[options]\nn_hidden = -3", "n_hidden is -3"),
        ("[options]\nrandom_state = 3", "unknown option 'random_state'"),
    ],
)
def test_a_wrong_configuration_is_refused(text: str, match: str, tmp_path: Path) -> None:
    (tmp_path / "learn.toml").write_text(text)
    with pytest.raises(ConfigError, match=match):
        read_learn_config(tmp_path / "learn.toml")


# ---- the command


def test_the_command(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = parts(tmp_path, 3, ".npz")
    Path("learn.toml").write_text(
        'seed = 0\nclasses = [4, 3, 2, 1, 0]\n[options]\nlayer = "second-order"\nshape = [4, 5]\nn_hidden = 24\n'
    )
    words = ["learn", "learn.toml", "--data", "part-*.npz", "--out", "model.safetensors"]
    ran = CliRunner().invoke(app, [*words, "--workers", "2", "--json"])
    assert ran.exit_code == 0, ran.output
    answer = json.loads(ran.stdout)
    assert answer["rows"] == len(y) and answer["exact"] and len(answer["shards"]) == 3
    config = read_learn_config(Path("learn.toml"))
    config.classifier().partial_fit(X, y, classes=config.classes).save("single")
    assert Path("model.safetensors").read_bytes() == Path("single").read_bytes()
    ran = CliRunner().invoke(app, words)
    assert "0 samples learned now, 3 shards in all, equal to a single pass to the bit" in ran.output
    wrong = CliRunner().invoke(app, [*words[:3], "nothing-*.npz", *words[4:]])
    assert wrong.exit_code != 0 and "no such file" in wrong.output
