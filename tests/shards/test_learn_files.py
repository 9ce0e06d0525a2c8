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

from cases import slow
from kenyon.cli import app
from kenyon.data.shards import LearnConfig, ShardError, _formats, learn_files, read_learn_config
from kenyon.data.shards._tree import Node, Tree
from kenyon.errors import ConfigError, DataError, InputError, MemoryBudgetError, MergeError
from kenyon.utils.events import Event, Watch
from shards.files import CONFIG, loaded, parts, samples, single_pass, table, write

LISTED = [".parquet", ".arrow", ".csv", ".npz"]


class Seen(Watch):
    """Notes what it receives."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.rows = self.n_learned = self.n_pieces = self.n_inspected = 0
        self.n_before: list[int] = []

    def note(self, event: Event) -> None:
        self.notes.append(event.message)

    def progress(self, event: Event) -> None:
        self.n_inspected += 1

    def planned(self, event: Event) -> None:
        self.n_pieces = event.total
        self.n_before.append(event.done)

    def finished(self, event: Event) -> None:
        self.rows += event.result
        self.n_learned = event.done


@pytest.mark.parametrize("ending", LISTED)
def test_a_model_of_shards_is_the_model_of_a_single_pass(ending: str, tmp_path: Path) -> None:
    X, y = parts(tmp_path, 5, ending)
    config = LearnConfig(options=CONFIG.options, as_bytes=ending == ".csv")
    watch = Seen()
    done = learn_files(config, [str(tmp_path / "part-*")], tmp_path / "model", piece=60, watch=watch)
    assert (tmp_path / "model").read_bytes() == single_pass(X, y, tmp_path / "single", config, ending != ".npz")
    assert done.exact and done.rows == watch.rows == len(y) and Path(done.shards[0].path).stem == "part-0"
    assert not (tmp_path / "model.work").exists()
    assert watch.n_learned == watch.n_pieces == (10 if ending in (".parquet", ".arrow") else 5)


@pytest.mark.parametrize("kind", ["lists", "bytes"])
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_a_column_may_hold_all_features_of_a_row(kind: str, ending: str, tmp_path: Path) -> None:
    X, y = samples(200)
    file = write(tmp_path / f"part{ending}", X, y, kind)
    found = [batch for batch in _formats.batches_of(file, _formats.Columns("label", ["pixels"]), (1, 4))]
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
                node.file(tmp_path).write_text(
                    "".join(child.file(tmp_path).read_text() for child in tree.children(node))
                )
            tree.end(node)
            assert len(list(tmp_path.iterdir())) <= 2 + n.bit_length()

    for steps in range(2 * n):  # killed after any number of steps, and begun again
        work(Tree([1] * n, tmp_path), steps)
        rest = Tree([1] * n, tmp_path)
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
    with pytest.raises(ShardError, match=r"part-1.parquet has changed since it was recorded"):
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

    with pytest.raises(ShardError, match=r"part-2.parquet has changed since") as caught:
        learn_files(CONFIG, [pattern], out, watch=Changes())
    assert list(caught.value.refused) == [str(tmp_path / "part-2.parquet")] and caught.value.learned == 2
    assert not (tmp_path / "model.work").exists()
    X, y = parts(tmp_path, 3)
    assert learn_files(CONFIG, [pattern], out).rows == 200, "what was learned beside the refused file was lost"
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")


def test_a_file_that_changes_between_two_calls_is_left_out_of_the_plan(tmp_path: Path) -> None:
    """A plan that was begun and not finished does not stand in the way for ever."""
    parts(tmp_path, 4)
    out, pattern = tmp_path / "model", str(tmp_path / "part-*.parquet")

    class Stops(Seen):
        def finished(self, event: Event) -> None:
            if event.done == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn_files(CONFIG, [pattern], out, watch=Stops())
    for number in (0, 3):  # one was learned already, the other was not
        write(tmp_path / f"part-{number}.parquet", *samples(40, seed=7 + number))
    (tmp_path / "part-2.parquet").unlink()
    with pytest.raises(ShardError, match=r"part-0.parquet has changed since"):
        learn_files(CONFIG, [pattern], out)
    names = [Path(shard["path"]).stem for shard in json.loads(Path(f"{out}.shards.json").read_text())["shards"]]
    assert names == ["part-0", "part-1", "part-3"], "part-3 is learned with the content that it has now"
    assert loaded(out).n_samples_learned_ > 0 and not (tmp_path / "model.work").exists()


# ---- refused


def test_a_file_of_another_kind_of_labels_does_not_stand_in_the_way(tmp_path: Path) -> None:
    X, y = samples(90)
    words = np.array([f"class {label}" for label in y], object)
    for number in (0, 2):
        rows = slice(30 * number, 30 * number + 30)
        write(tmp_path / f"part-{number}.parquet", X[rows], words[rows])
    write(tmp_path / "part-1.parquet", X[30:60], y[30:60])
    out = tmp_path / "model"
    assert learn_files(CONFIG, [tmp_path / "part-0.parquet"], out).rows == 30
    before = out.read_bytes()
    with pytest.raises(ShardError, match=r"part-1.parquet has labels of the kind 'number': expected 'string', as .*0"):
        learn_files(CONFIG, [tmp_path / "part-1.parquet"], out)
    assert out.read_bytes() == before and not (tmp_path / "model.work").exists()
    with pytest.raises(ShardError, match=r"part-1.parquet has labels(.|\n)*1 file was refused; 2 others are part"):
        learn_files(CONFIG, [str(tmp_path / "part-*.parquet")], out)
    kept = np.r_[0:30, 60:90]
    assert out.read_bytes() == single_pass(X[kept], words[kept], tmp_path / "single")
    assert learn_files(CONFIG, [tmp_path / "part-2.parquet"], out).rows == 0


def _spoil(path: Path, how: str) -> None:
    """A file whose damage is not seen before its samples are read."""
    X, y = samples(120)
    if how == "NaN":
        X = X.astype(np.float32)
        X[100, 3] = np.nan
    write(path, X, y)
    if how == "page":  # of the last row group
        whole = bytearray(path.read_bytes())
        whole[len(whole) // 2 : len(whole) // 2 + 40] = bytes(40)
        path.write_bytes(whole)
    if how == "short":
        path.write_bytes(path.read_bytes()[:-200])
    if how == "text":
        import pyarrow.parquet as pq

        some = pq.read_table(path)
        pq.write_table(some.set_column(4, "p4", some.column("p4").cast("string")), path)


@pytest.mark.parametrize("how", ["NaN", "page", "short", "text"])
@pytest.mark.parametrize("workers", [1, slow(2)])
def test_a_damaged_file_is_named_and_the_others_are_learned(how: str, workers: int, tmp_path: Path) -> None:
    X, y = parts(tmp_path, 3)
    _spoil(tmp_path / "part-1.parquet", how)
    out, pattern = tmp_path / "model", str(tmp_path / "part-*.parquet")
    with pytest.raises(ShardError, match=r"part-1.parquet") as caught:
        learn_files(CONFIG, [pattern], out, piece=50, workers=workers)
    assert list(caught.value.refused) == [str(tmp_path / "part-1.parquet")] and caught.value.learned == 2
    kept = np.r_[0:200, 400:600]
    assert out.read_bytes() == single_pass(X[kept], y[kept], tmp_path / "single")
    parts(tmp_path, 3)
    assert learn_files(CONFIG, [pattern], out).rows == 200, "it is mended, and learned now"


def test_an_arrow_file_that_shrinks_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    """Mapped into memory it would end the process."""
    file = write(tmp_path / "part.arrow", *samples(600))
    columns = _formats.Columns("label", [f"p{i}" for i in range(20)])
    batches = _formats.batches_of(file, columns, (0, 12))
    next(batches)
    os.truncate(file, 1000)
    with pytest.raises(DataError, match=r"part.arrow cannot be read as Arrow"):
        list(batches)


def test_columns_are_found_by_name_in_any_order(tmp_path: Path) -> None:
    import pandas as pd
    import pyarrow.parquet as pq

    X, y = samples(200)
    write(tmp_path / "part-0.parquet", X[:100], y[:100])
    other = table(X[100:], y[100:])
    pq.write_table(other.select(["label", *reversed(other.column_names[:-1])]), tmp_path / "part-1.parquet")
    out = tmp_path / "model"
    learn_files(CONFIG, [str(tmp_path / "part-*.parquet")], out)
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")
    model = loaded(out)
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(20)])
    assert model.feature_names_in_.tolist() == list(frame.columns)
    model.predict(frame)
    with pytest.raises(InputError, match="must be in the same order"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(InputError, match="feature names"):
        model.predict(frame.rename(columns={"p3": "other"}))


def test_features_and_drop_choose_columns(tmp_path: Path) -> None:
    X, y = samples(100)
    file = write(tmp_path / "part.parquet", X, y)
    options = {"layer": "second-order", "n_hidden": 24, "unlabelled": -1}
    chosen = LearnConfig(options=options, features=["p3", "p1", "p2"])
    learn_files(chosen, [file], tmp_path / "chosen")
    assert loaded(tmp_path / "chosen").feature_names_in_.tolist() == ["p3", "p1", "p2"]
    learn_files(LearnConfig(options=options, drop=["p0", "p19"]), [file], tmp_path / "dropped")
    assert loaded(tmp_path / "dropped").feature_names_in_.tolist() == [f"p{i}" for i in range(1, 19)]
    for name in ("features", "drop"):
        wanted: Any = {name: ["p3", "q1"]}
        with pytest.raises(ShardError, match=r"part.parquet has no column 'q1': .*did you mean"):
            learn_files(LearnConfig(options=options, **wanted), [file], tmp_path / "none")
    np.savez(tmp_path / "part.npz", X=X, y=y)
    with pytest.raises(ShardError, match="has no names for its columns"):
        learn_files(chosen, [tmp_path / "part.npz"], tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".npz"])
def test_empty_cells_are_absent_values_where_that_is_asked_for(ending: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)).astype(np.float32), np.arange(90) % 3
    X[rng.random(X.shape) < 0.2] = np.nan
    file = tmp_path / f"part{ending}"
    if ending == ".npz":
        np.savez(file, X=X, y=y)
    else:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        cells = {f"p{i}": pa.array(X[:, i], from_pandas=True) for i in range(4)}
        writes = {".csv": pyarrow.csv.write_csv, ".parquet": pyarrow.parquet.write_table}
        writes[ending](pa.table({**cells, "label": y}), file)
    absent = LearnConfig(options={"missing": "absent", "layer": "counting", "rule": "mean"})
    learn_files(absent, [file], tmp_path / "model")
    wanted = single_pass(X, y, tmp_path / "single", absent, ending != ".npz")
    assert (tmp_path / "model").read_bytes() == wanted
    with pytest.raises(ShardError, match=r"part.*(empty cells.*missing = 'absent'|contains NaN)"):
        learn_files(LearnConfig(options={"layer": "counting", "rule": "mean"}), [file], tmp_path / "none")


def test_a_file_without_rows_is_learned_as_nothing(tmp_path: Path) -> None:
    X, y = parts(tmp_path, 2)
    write(tmp_path / "part--.parquet", X[:0], y[:0])
    out = tmp_path / "model"
    assert learn_files(CONFIG, [str(tmp_path / "part-*.parquet")], out).rows == len(y)
    assert out.read_bytes() == single_pass(X, y, tmp_path / "single")


def test_shards_that_cannot_be_one_model_are_named_and_leave_nothing_behind(tmp_path: Path) -> None:
    """Two files of 300 classes each, in a budget that holds 300."""
    X, _ = samples(600)
    for number in range(2):
        rows = slice(300 * number, 300 * number + 300)
        write(tmp_path / f"part-{number}.parquet", X[rows], np.arange(300 * number, 300 * number + 300))
    tight = LearnConfig(options={"rule": "mean", "layer": "counting", "n_hidden": 30, "memory_budget": "60KB"})
    out = tmp_path / "model"
    with pytest.raises(MemoryBudgetError, match=r"part-0.parquet, .*part-1.parquet cannot be one model"):
        learn_files(tight, [str(tmp_path / "part-*.parquet")], out)
    assert not out.exists() and not (tmp_path / "model.work").exists()
    assert learn_files(tight, [tmp_path / "part-0.parquet"], out).rows == 300
    with pytest.raises(MemoryBudgetError, match=r"part-0.parquet, .*part-1.parquet cannot be one model"):
        learn_files(tight, [tmp_path / "part-1.parquet"], out)
    assert learn_files(tight, [tmp_path / "part-0.parquet"], out).rows == 0


@pytest.mark.parametrize("counts", [[1, 1, 1], [4], [2, 3, 1], [1, 5], [3, 3, 3, 3]])
def test_a_shard_is_left_out_at_any_moment(counts: list[int], tmp_path: Path) -> None:
    """Whatever had been done of it: the tree ends, and holds the pieces of the others."""
    for refused in range(len(counts)):
        for steps in range(2 * sum(counts)):
            for file in tmp_path.iterdir():
                file.unlink()
            tree, left_out = Tree(counts, tmp_path), False
            for step in range(1000):
                if step == steps:
                    left_out = not tree.is_over(refused)
                    tree.leave_out(refused)
                if (node := tree.next()) is None:
                    break
                text = f"{node.start} "
                if not node.is_leaf:
                    text = "".join(child.file(tmp_path).read_text() for child in tree.children(node))
                node.file(tmp_path).write_text(text)
                tree.end(node)
            starts = [sum(counts[:number]) for number in range(len(counts))]
            pieces = [
                str(start + k)
                for number, start in enumerate(starts)
                for k in range(counts[number])
                if number != refused or not left_out
            ]
            assert tree.is_done and tree.root.file(tmp_path).read_text().split() == pieces


def test_what_cannot_be_learned_is_refused(tmp_path: Path) -> None:
    parts(tmp_path, 2)
    X, y = samples(30)
    write(tmp_path / "other.parquet", X[:, :-1], y)
    write(tmp_path / "wider.parquet", np.hstack([X, X[:, :1]]), y)
    write(tmp_path / "floats.parquet", X / 2, y)
    write(tmp_path / "half.csv", X / 2, y)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    (tmp_path / "broken.npz").write_bytes(b"PK")
    (tmp_path / "text.txt").write_text("a")
    write(tmp_path / "none.parquet", X, np.full(30, -1))
    np.savez(tmp_path / "odd.npz", X=X, y=y[:-1])
    mse = LearnConfig(options={"rule": "mse", "n_hidden": 50})
    cases: list[tuple[LearnConfig, list[str], type[Exception], str]] = [
        (CONFIG, ["missing-*.parquet"], DataError, "no such file"),
        (CONFIG, ["part-0.parquet", "other.parquet"], ShardError, "other.parquet has no column 'p19'"),
        (CONFIG, ["part-0.parquet", "wider.parquet"], ShardError, "has the column 'p20', which .*features, or .* drop"),
        (CONFIG, ["part-0.parquet", "floats.parquet"], ShardError, "numbers as features: expected bytes.*as_bytes"),
        (CONFIG, ["broken.parquet"], ShardError, "broken.parquet cannot be read as Parquet"),
        (CONFIG, ["broken.npz"], ShardError, "broken.npz is damaged"),
        (CONFIG, ["odd.npz"], ShardError, "one label per sample"),
        (CONFIG, ["text.txt"], ShardError, "expected a file that ends in .parquet"),
        (CONFIG, ["none.parquet"], DataError, "no sample in .*none.parquet has a label"),
        (LearnConfig(options=CONFIG.options, label="digit"), ["part-0.parquet"], ShardError, "no column 'digit'"),
        (LearnConfig(options=CONFIG.options, as_bytes=True), ["half.csv"], ShardError, "an integer from 0 to 255"),
        (LearnConfig(options=CONFIG.options, classes=("a",)), ["part-0.parquet"], ShardError, "as classes has"),
        (mse, ["part-*.parquet"], MergeError, "part-0.parquet: .*do not add up"),
    ]
    for config, names, kind, match in cases:
        with pytest.raises(kind, match=match):
            learn_files(config, [str(tmp_path / name) for name in names], tmp_path / "model")
        assert (tmp_path / "model").exists() == (names[0] == "part-0.parquet" and len(names) > 1), match
        assert not (tmp_path / "model.work").exists(), match
        for left in tmp_path.glob("model*"):
            left.unlink()
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
        ("features = 'a'", "features = 'a': expected a list"),
        ("drop = ['a', 'a']", "a list of different names"),
        ("features = ['label']", "the column of the labels"),
        ("features = ['a']\ndrop = ['b']", "features and drop are both given"),
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
