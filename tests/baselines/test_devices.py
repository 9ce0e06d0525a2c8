"""Everything of a PyTorch learner lives on its device.

There is no second device in a test machine. So tensors carry a mark that says where a machine with one would have
them: what is made without a device is on the host, what is made with one, or moved to it, is on the device, and an
operation gets its operands from one place, as PyTorch demands of real devices.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'baselines'")

from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._pytree import tree_flatten  # noqa: E402

from kenyon.data.streams import Curriculum, load_dataset  # noqa: E402
from kenyon.errors import ConfigError  # noqa: E402
from kenyon.learners import learner_options, make_learner  # noqa: E402
from kenyon.learners.baselines import BASELINES  # noqa: E402
from kenyon.learners.baselines._devices import ISA, avoid_missing_tiles  # noqa: E402

pytestmark = pytest.mark.slow

ON_TORCH = [name for name in BASELINES if "device" in learner_options(name)]
SMALL: dict[str, dict[str, Any]] = {
    "phsic": {"hidden": [50], "groups": 5},
    "rpsnet": {"hidden": [20], "modules": 2},
    "cn-dpm": {"hidden": [16], "sleep": 2, "sleep_classifier": 2, "code": 4},
    "instaparam": {"hidden": [40, 40]},
}
MADE = {
    "zeros",
    "ones",
    "full",
    "empty",
    "arange",
    "rand",
    "randn",
    "randint",
    "randperm",
    "tensor",
    "from_numpy",
    "eye",
}
INDEXED = {"__getitem__", "__setitem__"}
FREE = {"copy_", "to", "cpu", "to_empty", "_to", "__get__", "__set__", "set_"}


class SecondDevice(TorchFunctionMode):
    """Marks tensors, and refuses what a real second device would refuse."""

    def __init__(self, device: Any) -> None:
        super().__init__()
        self.device, self.moved = device, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if func == torch.Tensor.device.__get__ and self._place(args[0]) == "device":
            return self.device
        out = func(*args, **kwargs)
        tensors = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor)]
        if name in MADE:
            place = "device" if kwargs.get("device") is self.device else "host"
            assert "device" not in kwargs or kwargs["device"] in (self.device, torch.device("meta")), (name, kwargs)
        elif name == "to" and any(entry is self.device for entry in (*args[1:], *kwargs.values())):
            place, self.moved = "device", self.moved + 1
        elif name in ("cpu",):
            place = "host"
        elif name == "numpy":
            assert self._place(args[0]) != "device", "numpy() of a tensor on the device"
            return out
        else:
            counted = tensors[:1] if name in INDEXED else tensors
            places = {self._place(t) for t in counted if t.dim() > 0} - {None}
            assert len(places) <= 1 or name in FREE, f"{name} of tensors on the host and on the device"
            place = places.pop() if places and name not in ("__set__",) else None
        for made in tree_flatten(out)[0]:
            if isinstance(made, torch.Tensor) and place is not None:
                # What is moved without a copy is the same tensor here, and another one on a real machine.
                made.place = place  # type: ignore[attr-defined]
        return out

    @staticmethod
    def _place(tensor: Any) -> str | None:
        return getattr(tensor, "place", None)


def learn(name: str, **options: Any) -> tuple[Any, np.ndarray]:
    scenario = {"phsic": "single-task"}.get(name, "task-incremental" if name == "instaparam" else "class-incremental")
    stream = Curriculum(scenario, max_per_task=60).open(load_dataset("digits"))
    learner = make_learner(name, stream.info, 0, scenario, **SMALL.get(name, {"hidden": [20]}), **options)
    said = []
    for episode in stream.episodes:
        task = episode.task if stream.info.task_heads else None
        X, y = episode.train()
        y = y.copy()
        y[3] = -1
        said.append(learner.test_then_learn(X, y, task))
        learner.end_task(episode is stream.episodes[-1])
        said.append(learner.predict(episode.test()[0], task))
    other = make_learner(name, stream.info, 1, scenario, **SMALL.get(name, {"hidden": [20]}), **options)
    other.restore(learner.state())
    said.append(other.predict(stream.episodes[0].test()[0], 0 if stream.info.task_heads else None))
    return learner, np.concatenate(said)


def test_every_learner_on_pytorch_has_a_device() -> None:
    assert len(ON_TORCH) >= 14 and {"er", "der++", "icarl", "cn-dpm", "rpsnet", "phsic", "instaparam"} <= set(ON_TORCH)


@pytest.mark.parametrize("name", ON_TORCH)
def test_everything_lives_on_the_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = torch.device("cpu:0")
    monkeypatch.setattr("kenyon.learners.baselines._trainer.open_device", lambda name: device)
    before = torch.get_rng_state()
    with SecondDevice(device) as mode:
        learner, said = learn(name, device="cpu:0")
    assert mode.moved >= 3
    assert learner.device is device
    monkeypatch.undo()
    _, expected = learn(name)
    assert np.array_equal(said, expected), "the device changed what is learned"
    assert torch.equal(before, torch.get_rng_state()), "the global generator was used"


def test_the_marks_find_what_is_left_on_the_host() -> None:
    device = torch.device("cpu:0")
    with SecondDevice(device), pytest.raises(AssertionError, match="on the host and on the device"):
        torch.zeros(3, device=device) + torch.ones(3)
    with SecondDevice(device), pytest.raises(AssertionError, match="numpy"):
        torch.zeros(3).to(device).numpy()


def test_mixed_precision_is_off_unless_asked_for() -> None:
    plain, said = learn("er")
    mixed, other = learn("er", mixed_precision=True)
    assert plain.mixed_precision is False and learner_options("er")["mixed_precision"] is False
    assert {p.dtype for p in mixed.params} == {torch.float32}
    assert not np.array_equal(said, other) and np.mean(said == other) > 0.5


@pytest.mark.parametrize(
    ("flags", "given", "expected"),
    [
        ("fpu hypervisor avx512_bf16 amx_tile amx_bf16", None, "AVX512_CORE_BF16"),
        ("fpu hypervisor avx512_bf16 amx_tile amx_bf16", "AVX512_CORE_AMX", "AVX512_CORE_AMX"),
        ("fpu avx512_bf16 amx_tile amx_bf16", None, None),
        ("fpu hypervisor avx2", None, None),
    ],
)
def test_a_virtual_machine_is_not_trusted_with_amx(
    flags: str, given: str | None, expected: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(ISA, raising=False)
    if given:
        monkeypatch.setenv(ISA, given)
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nflags\t\t: {flags}\n")
    avoid_missing_tiles(cpuinfo)
    assert os.environ.get(ISA) == expected
    avoid_missing_tiles(tmp_path / "absent")
    assert os.environ.get(ISA) == expected


@pytest.mark.parametrize("device", ["cuda:99", "nonsense", "xla:0"])
def test_a_device_that_is_not_there_is_said_in_one_line(device: str) -> None:
    with pytest.raises(ConfigError, match=f"device is '{device}': PyTorch cannot use it here") as caught:
        learn("fine-tune", device=device)
    assert "\n" not in str(caught.value)
