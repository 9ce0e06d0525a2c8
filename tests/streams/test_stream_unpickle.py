"""The pickle reader gives what pickle would give, and runs nothing."""

from __future__ import annotations

import builtins
import contextlib
import os
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_files import python2_batch

from kenyon.data.streams._unpickle import read_pickle
from kenyon.errors import DataError

X = np.random.default_rng(0).integers(0, 256, (300, 40), np.uint8)
LABELS = {"fine_labels": [n % 100 for n in range(300)], "coarse_labels": [n % 20 for n in range(300)]}
BATCH = python2_batch(X, LABELS)


def _loaded_by_pickle(content):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of type objects aligned as Python 2 wrote them
        return pickle.loads(content, encoding="latin-1")


def _same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        np.testing.assert_array_equal(ours[key], value)


def test_python_2_batch_as_pickle_reads_it(tmp_path):
    (tmp_path / "batch").write_bytes(BATCH)
    _same(read_pickle(tmp_path / "batch"), _loaded_by_pickle(BATCH))


@pytest.mark.parametrize("protocol", [3, 4])
@pytest.mark.parametrize("order", ["C", "F"])
def test_saved_again_by_python_3(protocol, order, tmp_path):
    content = {"data": np.asarray(X, order=order), "labels": list(range(2500)), "name": "é", "none": None, "yes": True}
    (tmp_path / "batch").write_bytes(pickle.dumps(content, protocol))
    _same(read_pickle(tmp_path / "batch"), content)


class _Calls:
    """Pickles to a call of any function."""

    def __init__(self, function, *arguments, state=None):
        self.made = (function, arguments, state) if state else (function, arguments)

    def __reduce__(self):
        return self.made


def _malicious(marker):
    touch = f"open({str(marker)!r}, 'w').close()"
    for protocol in range(6):
        yield f"os.system, protocol {protocol}", pickle.dumps({"data": _Calls(os.system, f"touch {marker}")}, protocol)
        yield f"exec, protocol {protocol}", pickle.dumps([_Calls(builtins.exec, touch)], protocol)
    command = f"touch {marker}".encode()
    yield "inst", b"(S'" + command + b"'\nios\nsystem\n."
    yield "obj", b"(cos\nsystem\nU" + bytes([len(command)]) + command + b"o."
    yield "inside a batch", BATCH[:-2] + b"U\x01xcos\nsystem\n(U" + bytes([len(command)]) + command + b"tRu."


def test_malicious_files_run_nothing(tmp_path):
    marker = tmp_path / "ran"
    for name, content in _malicious(marker):
        (tmp_path / "batch").write_bytes(content)
        with pytest.raises(DataError, match="Nothing in it was run"):
            read_pickle(tmp_path / "batch")
        assert not marker.exists(), name
        _loaded_by_pickle(content)  # the same file is dangerous where it is run
        assert marker.exists(), name
        marker.unlink()


REFUSED = {
    "allowed name, wrong arguments": b"\x80\x02cnumpy\ndtype\nU\x01O\x85R.",
    "reconstruct of something else": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\ndtype\n\x85R.",
    "a name as a value": b"\x80\x02}(U\x04datacnumpy\nndarray\nu.",
    "array without content": BATCH[: BATCH.index(b"(K\x01")] + b"u.",
    "state of a list": b"\x80\x02]}b.",
    "list, no dictionary": b"\x80\x02]q\x01(K\x01K\x02e.",
    "a list that holds itself": b"\x80\x02}q\x01(U\x04data]q\x02h\x02au.",
    "persistent reference": b"\x80\x02P1\n.",
    "missing memo": b"\x80\x02h\x07.",
    "no end": b"\x80\x02}",
    "no stack": b"\x80\x02.",
    "extension": b"\x80\x02\x82\x01.",
    "negative length": b"\x80\x02T\xff\xff\xff\xff.",
    "length past the end": b"\x80\x02T\xff\xff\xff\x7f.",
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=list(REFUSED))
def test_refused(content, tmp_path):
    (tmp_path / "batch").write_bytes(content)
    with pytest.raises(DataError, match="not a CIFAR file in the python version"):
        read_pickle(tmp_path / "batch")


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_a_file_asks_to_import_is_named(protocol, tmp_path):
    (tmp_path / "batch").write_bytes(pickle.dumps(_Calls(builtins.exec, "1"), protocol))
    with pytest.raises(DataError, match=r"asks to import (__builtin__|builtins)\.exec"):
        read_pickle(tmp_path / "batch")


def test_shared_lists_do_not_multiply(tmp_path):
    """A small file whose lists name each other over and over must not become a large value."""
    layers = b"\x80\x02}q\x01(U\x04data]q\x02(K\x01e" + b"".join(
        b"U\x02%02d]q%c(" % (n, n + 3) + b"h%c" % (n + 2) * 200 + b"e" for n in range(40)
    )
    (tmp_path / "batch").write_bytes(layers + b"u.")
    with pytest.raises(DataError, match="plain value"):
        read_pickle(tmp_path / "batch")


SMALL = python2_batch(X[:2, :6], {"labels": [3, 4]})


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_damage_is_a_data_error_or_a_value(tmp_path_factory, data):
    content = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        assert isinstance(read_pickle(path), dict)
