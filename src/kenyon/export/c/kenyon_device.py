"""A Kenyon model in C from Python, with nothing but the standard library, on anything that has a C compiler.

    make libkenyon.so
    python kenyon_device.py            # says what the model is

    from kenyon_device import Model
    model = Model()                    # as exported; Model(empty=True) begins with nothing
    model.learn(sample, label)         # bytes, and a number
    model.learn_many(samples, labels)  # samples one behind the other: the same, sooner
    model.predict(sample)

A model saved here (`model.save()`) is loaded by the device's `kenyon_load`, and by `kenyon device unpack`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path

ERRORS = {
    -1: "no class has this label: add it first",
    -2: "a class has this label already, or no class may have it",
    -3: "there is no room for more classes",
    -4: "there is no class to predict",
    -5: "the buffer is too small, or not as long as it says",
    -6: "the buffer does not begin like one of save()",
    -7: "the buffer is of another version of the format",
    -8: "the buffer is of a model with other settings",
    -9: "the buffer is damaged",
    -10: "the buffer holds what no model can hold",
    -11: "the model was exported for prediction only",
    -12: "what this rule learns does not add up",
    -13: "nothing was heard since the last one that was learned",
}


class KenyonError(ValueError):
    """What the model refused, by its number in kenyon.h; nothing was changed."""

    def __init__(self, code: int) -> None:
        super().__init__(ERRORS.get(code, f"error {code}"))
        self.code = code


class Model:
    """One model. Any number of them may live side by side; each belongs to one thread at a time.

    Args:
        library: of `make libkenyon.so`; beside this file where it is not given.
        empty: begin with no classes, whatever was exported.
    """

    def __init__(self, library: str | Path | None = None, empty: bool = False) -> None:
        self._c = ctypes.CDLL(str(library or Path(__file__).with_name("libkenyon.so")))
        self._c.kenyon_size.restype = self._c.kenyon_classes.restype = ctypes.c_uint32
        self._c.kenyon_trained.restype = self._c.kenyon_samples.restype = ctypes.c_uint32
        self._c.kenyon_activity.restype = ctypes.POINTER(ctypes.c_uint8)
        sizes = (self._c.kenyon_size(what) for what in range(6))
        self.n_inputs, self.n_units, self.most_classes, self.ram, self._most_bytes, self.learns = sizes
        self._model = (ctypes.c_uint64 * (self.ram // 8 + 1))()
        self._room: ctypes.Array[ctypes.c_char] | None = None
        self._c.kenyon_init(self._model)
        if empty:
            self._call("clear")

    # ---- learning and asking

    def learn(self, sample: bytes, label: int) -> None:
        """Learn one sample of a class that is known."""
        self._call("learn", self._sample(sample), ctypes.c_int32(label))

    def learn_many(self, samples: bytes, labels: Sequence[int]) -> None:
        """Learn samples that lie one behind the other, in their order; if a class is not known, none of them."""
        samples = bytes(samples)
        if len(samples) != self.n_inputs * len(labels):
            raise ValueError(f"the samples have {len(samples)} bytes: expected {self.n_inputs} for each label")
        numbers = (ctypes.c_int32 * len(labels))(*labels)
        if self._room is None:
            self._room = ctypes.create_string_buffer(self._c.kenyon_size(7) + 64)
        room = ctypes.c_void_p(-(-ctypes.addressof(self._room) // 64) * 64)  # vectors are loaded sooner from there
        self._call("learn_many", room, samples, numbers, ctypes.c_size_t(len(labels)))

    def solve_step(self, n: int = 1) -> int:
        """Solve the readout of up to n classes, for a prediction to come; how many are left."""
        return self._call("solve_step", ctypes.c_uint32(n))

    def predict(self, sample: bytes) -> int:
        """The label with the highest score."""
        label = ctypes.c_int32()
        self._call("predict", self._sample(sample), ctypes.byref(label))
        return label.value

    def scores(self, sample: bytes) -> dict[int, int]:
        """The score of each class by its label."""
        numbers = (ctypes.c_int32 * max(1, self.most_classes))()
        n = self._call("scores", self._sample(sample), numbers)
        return dict(zip(self.labels, numbers[:n], strict=True))

    def activity(self, sample: bytes) -> bytes:
        """The activity of each unit."""
        return bytes(self._c.kenyon_activity(self._model, self._sample(sample))[: self.n_units])

    # ---- with a front end

    def feed(self, samples: Sequence[int]) -> list[tuple[int, int, int, int]]:
        """Samples of the sensor, any number of them: (label, start, end, clipped) of each event."""
        if not hasattr(self._c, "kenyon_feed"):
            raise ValueError("the model was exported without a front end: expected one, to take samples of a sensor")
        events, most = [], self._c.kenyon_size(8)
        for start in range(0, len(samples), most):
            part = samples[start : start + most]
            numbers = (ctypes.c_int16 * len(part))(*part)
            if self._call("feed", numbers, ctypes.c_size_t(len(part))):
                label, begin, end, clipped = (self._c.kenyon_event_of(self._model, what) for what in range(4))
                events.append((label, begin % 2**32, end % 2**32, clipped))
        return events

    def learn_heard(self, label: int) -> None:
        """Learn what was heard last; a class that is not known is added."""
        self._call("learn_heard", ctypes.c_int32(label))

    def gap(self) -> None:
        """Samples were lost: what comes next does not follow what came before."""
        self._c.kenyon_gap(self._model)

    # ---- classes

    @property
    def labels(self) -> list[int]:
        """The labels in the order of arrival."""
        return [self._c.kenyon_label(self._model, place) for place in range(self._c.kenyon_classes(self._model))]

    def trained(self) -> dict[int, int]:
        """How many samples of each class were learned."""
        return {label: self._c.kenyon_trained(self._model, place) for place, label in enumerate(self.labels)}

    def add_class(self, label: int) -> None:
        self._call("add_class", ctypes.c_int32(label))

    def forget_class(self, label: int) -> None:
        self._call("forget_class", ctypes.c_int32(label))

    def rename_class(self, label: int, to: int) -> None:
        self._call("rename_class", ctypes.c_int32(label), ctypes.c_int32(to))

    # ---- keeping

    def save(self) -> bytes:
        """Everything learned, to be loaded here, on a device or by `kenyon device unpack`."""
        buffer = ctypes.create_string_buffer(self._most_bytes)
        size = self._call("save", buffer, ctypes.c_size_t(self._most_bytes))
        return buffer.raw[:size]

    def load(self, buffer: bytes) -> None:
        """Go on from a saved state."""
        self._call("load", buffer, ctypes.c_size_t(len(buffer)))

    def merge(self, buffer: bytes) -> None:
        """Add what another device learned."""
        self._call("merge", buffer, ctypes.c_size_t(len(buffer)))

    def _sample(self, sample: bytes) -> bytes:
        sample = bytes(sample)
        if len(sample) != self.n_inputs:
            raise ValueError(f"the sample has {len(sample)} bytes: expected {self.n_inputs}")
        return sample

    def _call(self, name: str, *arguments: object) -> int:
        code = getattr(self._c, f"kenyon_{name}")(self._model, *arguments)
        if code < 0:
            raise KenyonError(code)
        return code


if __name__ == "__main__":
    shown = Model(sys.argv[1] if sys.argv[1:] else None)
    how = "keeps learning" if shown.learns else "predicts only"
    print(
        f"{shown.n_inputs} bytes in, {shown.n_units} units, {len(shown.labels)} of {shown.most_classes} classes; {how}"
    )
    print(f"{shown.ram} bytes of RAM; samples by class: {shown.trained()}")
