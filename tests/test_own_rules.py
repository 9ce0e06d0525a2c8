"""Rules of your own: NumPy, compiled C and the core give the same bits; what is kept, and what is refused."""

from __future__ import annotations

import functools
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import needs_compiler, slow
from kenyon import core
from kenyon.core import compiler
from kenyon.errors import ConfigError
from kenyon.rules import GEN, MEAN, MSE, OJA, Rule, kernels_of
from kenyon.rules import _kernels as choosing
from kenyon.rules._kernels import OwnKernels
from kenyon.rules._own import compiled, source_of_rule
from kenyon.rules._programs import program
from kenyon.rules._vectorised import Vectorised
from kenyon.utils.modulation import Locals, OverCount
from outside_rule import Leaky

FACTOR = 0.75


def _half(x):  # type: ignore[no-untyped-def]
    return 0.5 * x


@dataclass(frozen=True)
class Branches(Rule):
    """Everything that a rule may be written with."""

    gated = True
    counted = True
    theta: float = 0.2

    @staticmethod
    def delta(x_e, x_o, x_m, w, n, theta):  # type: ignore[no-untyped-def,override]
        """The docstring is no part of it."""
        error = x_o - theta
        if error > 0 and w < 1:
            return x_m * x_e * _half(error) * FACTOR
        elif not error >= -0.1:
            error += 1
        return x_m * max(abs(error), x_e, 0.1) ** 2 * math.sqrt(x_e) / n if x_e > 0 else 0.0

    @staticmethod
    def readout(w, n, units, theta):  # type: ignore[no-untyped-def,override]
        return np.where(w > theta, theta, w) if n > 2 else min(w, 1 / n)

    @staticmethod
    def integer_step(z, q, n, rate, shift):  # type: ignore[no-untyped-def,override]
        step = (z * rate) >> shift
        return -step // 3 if q > 0 else (step - 5) % -7 + (step & 0xFFFF | n << 15)

    @staticmethod
    def integer_limit(n, top):  # type: ignore[no-untyped-def,override]
        return min(n, 5) * top

    @staticmethod
    def integer_score(z, n):  # type: ignore[no-untyped-def,override]
        return z // n if n > 1 else z


@dataclass(frozen=True)
class Doubled(Rule):
    """Never gated, and not proportional to x_e."""

    @staticmethod
    def delta(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def,override]
        return (x_m - x_o) * x_e - 0.01 * w


def _quarter(x_e, x_o, x_m, w, n):  # type: ignore[no-untyped-def]
    return 0.25 / n


def _of_weight(x_e, x_o, x_m, w, n):  # type: ignore[no-untyped-def]
    return 1 + abs(w) + 0.5 * x_e * x_m - x_o / n


PROGRAMS: dict[str, tuple[Rule, Locals]] = {
    "gen": (GEN(b1=0.05), ()),
    "oja": (OJA(), ()),
    "mse": (MSE(), ()),
    "mean": (MEAN(), ()),
    "mse over count": (MSE(), (OverCount.local,)),
    "gen, a rate of your own": (GEN(), (_quarter,)),
    "leaky": (Leaky(), ()),
    "branches": (Branches(), ()),
    "doubled": (Doubled(), ()),
    "oja, a parameter of the synapse": (OJA(), (None, None, _of_weight)),
    "gen, rate and parameters of the synapse": (GEN(b1=0.05), (_quarter, None, None, _of_weight)),
    "mse, a window of the synapse": (MSE(), (None, _of_weight)),
    "gen, a window of the synapse": (GEN(), (None, _of_weight, None, None)),
}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KENYON_CACHE", str(tmp_path_factory.mktemp("cache")))
        choosing._kernels.cache_clear()
        yield
    choosing._kernels.cache_clear()


@functools.cache
def _functions(name: str) -> list[dict[str, Callable[..., int]]]:
    """The functions of a rule in NumPy, and compiled from its source."""
    rule, local = PROGRAMS[name]
    own = program(type(rule), local, len(rule.parameters))
    machine = compiled(source_of_rule(own))
    assert machine is not None
    numpy = Vectorised(own)
    names = ("learn", "outputs", "each", "integers", "levels")
    found = [{one: getattr(numpy, one) for one in names}, {one.removesuffix("_own"): f for one, f in machine.items()}]
    kernels = kernels_of(rule, local)
    if kernels.how == "core":
        found.append(dict(kernels._functions))
    return found


def _activity(rng: np.random.Generator, n: int, n_units: int, dtype: type[np.generic]) -> tuple[NDArray, ...]:
    units, values = np.zeros((n, n_units), np.uint32), np.zeros((n, n_units), dtype)
    counts = rng.integers(0, n_units + 1, n)
    for s, count in enumerate(counts):
        units[s, :count] = np.sort(rng.choice(n_units, count, replace=False))
        values[s, :count] = rng.integers(1, 256, count) if dtype is np.uint8 else rng.random(count) - 0.1
    return units, values, counts


@needs_compiler
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0.0, 1.0)])
@pytest.mark.parametrize("windowed", [False, True])
@pytest.mark.parametrize("name", [name if name in ("gen", "branches") else slow(name) for name in PROGRAMS])
def test_numpy_and_c_learn_the_same_bits(name: str, windowed: bool, bounds: tuple[float, float]) -> None:
    rule, _ = PROGRAMS[name]
    rng, n, n_units, width = np.random.default_rng(1), 20, 37, 16
    active, labels = _activity(rng, n, n_units, np.float32), rng.integers(-1, 5, n)
    beta = np.tile(np.array([0.3, 3.0, *rule.parameters.values()], np.float32), (n, 1))
    plastic, start = rng.random(width) < 0.8, (rng.standard_normal((n_units, width)) * 0.3).astype(np.float32)
    parameters, graded = beta[0, 2:].copy(), rng.random(n, np.float32) if windowed else None
    for by_column in {False, rule.gated}:
        results = []
        for functions in _functions(name):
            weights, class_counts, clock = start.copy(), np.arange(width, dtype=np.uint32) % 4, np.zeros(2, np.int64)
            sums = weights.sum(axis=0, dtype=np.float64) if windowed else None
            outputs, dense = np.zeros((n - 1, width), np.float32), np.zeros(n_units, np.float32)
            last = functions["learn"](
                by_column, weights, sums, class_counts, *active, 1, n, labels, plastic, beta, -0.4, 0.4, *bounds,
                outputs, None if rule.event_driven and name != "doubled" else dense, clock, graded,
            )  # fmt: skip
            read, each = np.zeros((n, width), np.float32), np.zeros((n_units, width - 3), np.float32)
            if rule.readout is not None:
                functions["outputs"](weights, class_counts, *active, 0, n, parameters, read)
                functions["each"](weights, class_counts, parameters, each)
            kept = (weights, class_counts, clock, outputs, read, each, *([] if sums is None else [sums]))
            results.append((last, *(one.tobytes() for one in kept)))
        assert len(set(results)) == 1, f"by_column={by_column}"
        assert results[0][1] != start.tobytes()


@needs_compiler
@pytest.mark.parametrize("bits", [8, 4, 3, 2])
@pytest.mark.parametrize("name", ["gen", slow("gen, a rate of your own"), slow("mean"), slow("leaky"), "branches"])
def test_numpy_and_c_learn_the_same_levels(name: str, bits: int) -> None:
    rule, local = PROGRAMS[name]
    rng, n, n_units, width = np.random.default_rng(2), 12, 37, 8
    labels, plastic = rng.integers(-1, 5, n), rng.random(width) < 0.9
    beta = np.tile(np.array([0.3, 0.0, *rule.parameters.values()], np.float32), (n, 1))
    n_constants = program(type(rule), local, len(rule.parameters)).n_constants
    constants = np.array([40_000, 3, 5][:n_constants], np.int64)
    for what, dtype, more in (("integers", np.uint8, (20, constants)), ("levels", np.float32, (0.03, beta))):
        if what == "integers" and local is not None:
            continue
        active, results = _activity(rng, n, n_units, dtype), []
        for functions in _functions(name):
            weights, class_counts = np.zeros((-(-n_units * bits // 8), width), np.uint8), np.zeros(width, np.uint32)
            exponents = None if rule.integer_limit is None else np.zeros(width, np.uint8)
            out = np.zeros((n, width), np.int32 if what == "integers" else np.float32)
            state = (bits, rule.signed, weights, class_counts, exponents)
            functions[what](*state, *active, 0, n, n_units, labels, plastic, 7, *more, out)
            kept = (weights, class_counts, out, *([] if exponents is None else [exponents]))
            results.append(tuple(one.tobytes() for one in kept))
            assert weights.any()
        assert len(set(results)) == 1, what


def test_every_instruction_set_learns_the_same_bits() -> None:
    before, results = core.isa(), set()
    rng = np.random.default_rng(3)
    active, labels = _activity(rng, 30, 100, np.float32), rng.integers(0, 8, 30)
    start = (rng.standard_normal((100, 24)) * 0.3).astype(np.float32)
    try:
        for isa in core.isas():
            core.use_isa(isa)
            weights, sums = start.copy(), start.sum(axis=0, dtype=np.float64)
            core.learn_mse(
                False, weights, sums, None, *active, 0, 30, labels, np.ones(24, bool),
                np.tile(np.array([0.3, 2.0], np.float32), (30, 1)), -1, 1, 0, 1, np.zeros((30, 24), np.float32),
                None, None, None,
            )  # fmt: skip
            results.add((weights.tobytes(), sums.tobytes()))
    finally:
        core.use_isa(before)
    assert len(results) == 1


# ---- which of them is used


def _own(rule: Rule) -> OwnKernels:
    choosing._kernels.cache_clear()
    kernels = kernels_of(rule)
    assert isinstance(kernels, OwnKernels)
    return kernels


def _read(kernels: OwnKernels, n: int) -> bytes:
    out, beta = np.zeros((1, 8), np.float32), np.array([[0.0, 0.0, 0.5]], np.float32)
    active = (np.arange(3, dtype=np.uint32).reshape(1, 3), np.ones((1, 3), np.float32), np.array([3]))
    state = (8, True, np.arange(24, dtype=np.uint8).reshape(3, 8), np.zeros(8, np.uint32), None)
    kernels.call("levels", n, *state, *active, 0, 1, 3, None, None, 0, 0.1, beta, out)
    return out.tobytes()


@needs_compiler
def test_a_rule_begins_in_numpy_and_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENYON_CACHE", str(tmp_path))
    first = _own(Leaky())
    assert first.how == "numpy"
    before = _read(first, choosing.AFTER)
    assert first.how == "numpy" and not list(tmp_path.rglob("*"))
    assert _read(first, 1) == before and first.how == "compiled"
    (library,) = tmp_path.rglob("*.so")
    assert _own(Leaky()).how == "compiled"
    half = library.read_bytes()[:1000]
    library.unlink()  # it is in use: what is loaded stays as it was
    library.write_bytes(half)
    damaged = _own(Leaky())
    assert damaged.how == "numpy" and damaged.compile() and _read(damaged, 1) == before


def test_without_a_compiler_it_goes_on_in_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> list[str]:
        raise compiler.CompilerError("there is none")

    monkeypatch.setenv("KENYON_CACHE", str(tmp_path))
    monkeypatch.setattr(compiler, "find_compiler", none)
    kernels = _own(Leaky())
    before = _read(kernels, choosing.AFTER)
    assert _read(kernels, 1) == before and kernels.how == "numpy"


def test_a_compiler_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENYON_CACHE", str(tmp_path))
    monkeypatch.setattr(compiler, "find_compiler", lambda: [sys.executable, "-c", "raise SystemExit('no disk')"])
    kernels = _own(Leaky())
    with pytest.warns(UserWarning, match="runs in NumPy"):
        assert not kernels.compile()
    assert kernels.how == "numpy" and not list(tmp_path.rglob("*.so"))


@needs_compiler
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be written to")
def test_where_nothing_can_be_kept_it_is_compiled_for_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o500)
    monkeypatch.setenv("KENYON_CACHE", str(tmp_path / "cache"))
    assert _own(Leaky()).compile()


SOURCE = """
from dataclasses import dataclass
from typing import ClassVar
from kenyon.rules import Rule

FACTOR = {factor}

def helper(x):
    return x {helper}

@dataclass(frozen=True)
class Edited(Rule):
    name: ClassVar[str] = "edited"

    @staticmethod
    def delta(x_e, x_o, x_m, w):
        return FACTOR * x_e * helper(x_m) {more}
"""

COMMAND = """
import edited_rule, kenyon.testing
from kenyon.rules import get_rule, kernels_of
kernels = kernels_of(get_rule("edited"))
print(kernels.how)
assert kernels.compile()
kenyon.testing.check_rule("edited")
"""


@needs_compiler
@pytest.mark.slow
def test_an_edited_rule_is_not_served_by_an_old_library(tmp_path: Path) -> None:
    """Each version is checked against its own equation in a process of its own; all share the compiled code on disk."""
    first = {"factor": "1.0", "helper": "* 1.0", "more": ""}
    environment = {**os.environ, "KENYON_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    said = []
    for edit in ({}, {"more": "* 2.0"}, {"factor": "3.0"}, {"helper": "* 5.0"}, {}):
        (tmp_path / "edited_rule.py").write_text(SOURCE.format(**{**first, **edit}))
        command = [sys.executable, "-c", COMMAND]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{edit}: {done.stderr}"
        said.append(done.stdout.strip())
    assert said == ["numpy"] * 4 + ["compiled"]


# ---- what a rule may be


def _rule(function: Callable[..., Any], **more: Any) -> Rule:
    return dataclass(frozen=True)(type("Own", (Rule,), {"delta": staticmethod(function), **more}))()


def test_what_is_no_arithmetic_is_refused() -> None:
    def loops(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def]
        total = 0.0
        for _ in range(3):
            total += w
        return total

    def falls(x_e, x_o, x_m, w):  # type: ignore[no-untyped-def]
        if w > 0:
            return w

    for function, complaint in (
        (loops, "for _ in range"),
        (falls, "ends without returning"),
        (lambda x_e, x_o, x_m, w: undefined * w, "'undefined'"),  # type: ignore[name-defined] # noqa: F821
        (lambda x_e, x_o, x_m, w: w % 2, "w % 2"),
        (lambda x_e, x_o, x_m: x_m, "expected 4"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            kernels_of(_rule(function))


def test_functions_of_a_library_stay_in_numpy() -> None:
    kernels = _own(_rule(lambda x_e, x_o, x_m, w: x_m * x_e * math.exp(-w)))
    assert not kernels.compile() and kernels.how == "numpy"
