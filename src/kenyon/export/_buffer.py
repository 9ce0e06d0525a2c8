"""What a model has learned as the flat buffer of a device, and back.

`c/save.c` says what lies where. A buffer holds what a model file holds but for its parameters, which the device has
in its code: a number in the buffer, made from all of them, tells whether the two belong together.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.classifier import KenyonClassifier
from kenyon.errors import ConfigError, ModelFileError
from kenyon.export._c_model import Parts, parts_of

MAGIC, VERSION = b"KNYN", 1
HEADER = struct.Struct("<4sHHIIQQ")


def to_buffer(classifier: KenyonClassifier) -> bytes:
    """What a classifier has learned, for `kenyon_load` of its C sources.

    Example:
        >>> import numpy as np
        >>> X = np.arange(640, dtype=np.uint8).reshape(10, 64)
        >>> model = KenyonClassifier(memory_budget="6KB", shape=(8, 8)).partial_fit(X, np.arange(10) % 2)
        >>> to_buffer(model)[:4]
        b'KNYN'
    """
    parts, arrays = _learning(classifier), classifier.to_arrays()
    time, updates = arrays["counters"].tolist()
    body = struct.pack(f"<{len(parts.labels)}i", *parts.labels) + b"".join(_layer_bytes(parts, arrays))
    length = HEADER.size + len(body) + 4
    head = HEADER.pack(MAGIC, VERSION, len(parts.labels), parts.model_id, length, time, updates)
    return head + body + struct.pack("<I", zlib.crc32(head + body))


def from_buffer(classifier: KenyonClassifier, buffer: bytes) -> KenyonClassifier:
    """A classifier with what a device has learned: the parameters of one, the state of the other.

    Args:
        classifier: the one whose C sources the device runs, or one with the same parameters and seed.
        buffer: written by `kenyon_save`.

    Example:
        >>> import numpy as np
        >>> X = np.arange(640, dtype=np.uint8).reshape(10, 64)
        >>> model = KenyonClassifier(memory_budget="6KB", shape=(8, 8)).partial_fit(X, np.arange(10) % 2)
        >>> back = from_buffer(model, to_buffer(model))
        >>> bool((back.predict(X) == model.predict(X)).all())
        True
    """
    parts, arrays = _learning(classifier), classifier.to_arrays()
    n, time, updates = _checked(parts, buffer)
    numbers = list(struct.unpack_from(f"<{n}i", buffer, HEADER.size))
    labels = [_label(parts, number) for number in numbers]
    if len(set(numbers)) != n or n == 0:
        raise ModelFileError(f"the buffer has the labels {numbers}: expected one or more, all different")
    model = json.loads(arrays["model"].tobytes())
    model["heads"] = [{"task": None, "labels": labels, "neurons": list(range(n))}]
    text = json.dumps(model, separators=(",", ":")).encode()
    tensors: dict[str, NDArray] = {
        "model": np.frombuffer(text, np.uint8),
        "counters": np.array([time, updates], np.int64),
    }
    tensors |= _layer_arrays(parts, buffer[HEADER.size + 4 * n : -4], n)
    return KenyonClassifier.from_arrays(tensors, n_jobs=classifier.n_jobs)


def _learning(classifier: KenyonClassifier) -> Parts:
    parts = parts_of(classifier)
    if not parts.learns:
        raise ConfigError("the model learns with arithmetic='float': expected 'integer' for the state of a device")
    return parts


def _checked(parts: Parts, buffer: bytes) -> tuple[int, int, int]:
    """Classes, time and updates of a buffer that belongs to a model and is whole."""
    if len(buffer) < HEADER.size:
        raise ModelFileError(f"the buffer has {len(buffer)} bytes: expected at least {HEADER.size}")
    magic, version, n, model_id, length, time, updates = HEADER.unpack_from(buffer)
    if magic != MAGIC:
        raise ModelFileError(f"the buffer begins with {magic!r}: expected {MAGIC!r}, as kenyon_save writes")
    if version != VERSION:
        raise ModelFileError(f"the buffer is of version {version}: expected {VERSION}")
    if model_id != parts.model_id:
        raise ModelFileError(f"the buffer is of model {model_id:08x}: expected {parts.model_id:08x}, the model given")
    wanted = HEADER.size + n * (4 + parts.sizes["class_bytes"]) + parts.sizes["shared_bytes"] + 4
    if length != wanted or len(buffer) != wanted:
        raise ModelFileError(f"the buffer has {len(buffer)} bytes: expected {wanted} for {n} classes")
    if zlib.crc32(buffer[:-4]) != struct.unpack("<I", buffer[-4:])[0]:
        raise ModelFileError("the checksum does not match, the buffer is damaged")
    if max(time, updates) > 2**62:
        raise ModelFileError(f"the buffer counts {time} samples and {updates} updates: expected at most 2**62")
    return n, time, updates


def _label(parts: Parts, number: int) -> Any:
    """The label of a number; a class that a device added to others with names gets its number as one."""
    if number in parts.labels:
        return parts.labels[number]
    kind = type(next(iter(parts.labels.values())))
    if kind is bool:
        raise ModelFileError(f"the buffer has a class {number}: expected labels of a model with booleans")
    return str(number) if kind is str else number


# ---- the arrays of a layer


def _layer_bytes(parts: Parts, arrays: dict[str, NDArray]) -> Iterator[bytes]:
    n = len(parts.labels)
    if parts.numbers["second_order"]:
        yield bytes([int(arrays["halvings.0"][0]), int(arrays["doublings.0"][0])])
        for j in range(n):
            yield struct.pack("<Q", int(arrays["class_counts.0"][j]))
            yield arrays["means.0"][:, j].astype("<u2").tobytes()
        yield arrays["pairs.0"].astype("<i2" if parts.numbers["bits"] == 16 else "u1").tobytes()
        return
    exponents = arrays.get("exponents.0", np.zeros(n, np.uint8))
    for j in range(n):
        yield struct.pack("<IB", int(arrays["counts.0"][j]), int(exponents[j]))
        yield arrays["weights.0"][:, j].tobytes()


def _layer_arrays(parts: Parts, body: bytes, n: int) -> dict[str, NDArray]:
    size, numbers = parts.sizes["class_bytes"], parts.numbers
    if numbers["second_order"]:
        classes = np.frombuffer(body[2 : 2 + n * size], np.uint8).reshape(n, size)
        class_counts = np.frombuffer(classes[:, :8].tobytes(), "<u8")
        narrow = class_counts.max(initial=0) < 2**32
        pairs = np.frombuffer(body[2 + n * size :], "<i2" if numbers["bits"] == 16 else np.uint8)
        return {
            "halvings.0": np.array([body[0]], np.uint8),
            "doublings.0": np.array([body[1]], np.uint8),
            "class_counts.0": class_counts.astype(np.uint32 if narrow else np.uint64),
            "means.0": np.frombuffer(classes[:, 8:].tobytes(), "<u2").reshape(n, -1).T.astype(np.uint16),
            "pairs.0": pairs.astype(np.int16 if numbers["bits"] == 16 else np.uint8),
        }
    classes = np.frombuffer(body, np.uint8).reshape(n, size)
    arrays: dict[str, NDArray] = {
        "counts.0": np.frombuffer(classes[:, :4].tobytes(), "<u4").astype(np.uint32),
        "weights.0": np.ascontiguousarray(classes[:, 5:].T),
    }
    if numbers["limited"]:
        arrays["exponents.0"] = classes[:, 4].copy()
    elif classes[:, 4].any():
        raise ModelFileError("the buffer has exponents: expected none with this rule")
    return arrays
