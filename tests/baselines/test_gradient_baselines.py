"""Each gradient or replay baseline learns the split digits and shows what its name promises."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'baselines'")

import torch
from split_digits import SplitDigits
from torch import Tensor

from kenyon.errors import ConfigError
from kenyon.learners.baselines import Trainer
from kenyon.learners.baselines._a_gem import AGEM, inner, project
from kenyon.learners.baselines._anchor import Anchored
from kenyon.learners.baselines._derpp import DERpp
from kenyon.learners.baselines._er import ER
from kenyon.learners.baselines._er_mir import ERMIR
from kenyon.learners.baselines._fine_tune import FineTune
from kenyon.learners.baselines._gss import GSS, cosines
from kenyon.learners.baselines._icarl import ICaRL, herd
from kenyon.learners.baselines._iid_offline import IIDOffline
from kenyon.learners.baselines._lwf import LwF
from kenyon.learners.baselines._online_ewc import OnlineEWC
from kenyon.learners.baselines._si import SI
from kenyon.learners.baselines._trainer import Batch

pytestmark = pytest.mark.slow

# class, options, at least this accuracy class-incrementally (chance is 0.1) and task-incrementally (0.5)
CASES: list[tuple[type[Trainer], dict[str, Any], float, float]] = [
    (IIDOffline, {}, 0.90, 0.95),
    (FineTune, {}, 0.12, 0.85),
    (OnlineEWC, {"strength": 100.0}, 0.12, 0.85),
    (SI, {"strength": 1.0}, 0.12, 0.85),
    (LwF, {"alpha": 1.0}, 0.12, 0.85),
    (AGEM, {}, 0.15, 0.90),
    (ICaRL, {}, 0.70, 0.85),
    (GSS, {}, 0.60, 0.90),
    (ER, {}, 0.60, 0.90),
    (ERMIR, {}, 0.70, 0.90),
    (DERpp, {"alpha": 0.5, "beta": 0.5}, 0.75, 0.90),
]
IDS = [cls.name for cls, *_ in CASES]


@cache
def digits(scenario: str) -> SplitDigits:
    return SplitDigits(scenario)


def trained(cls: type[Trainer], scenario: str, tasks: int = 5, epochs: int = 1, seed: int = 0, **options: Any) -> Any:
    """A learner after the first tasks of the split digits."""
    stream = digits(scenario)
    learner = cls(stream.info, seed, **{"hidden": (100,), **options})
    for number, (task, X, y) in enumerate(stream.episodes()[:tasks]):
        for _ in range(epochs):
            learner.learn(X, y, task)
        learner.end_task(number == len(stream.tasks) - 1)
    return learner


def batch_of(learner: Trainer, scenario: str, episode: int, n: int = 10) -> Batch:
    task, X, y = digits(scenario).episodes()[episode]
    raw = torch.from_numpy(X[:n].copy())
    return Batch(raw, learner.normalise(raw), torch.from_numpy(y[:n].copy()), task)


@pytest.mark.parametrize(("cls", "options", "classwise", "taskwise"), CASES, ids=IDS)
def test_learns_the_split_digits(cls: Any, options: dict[str, Any], classwise: float, taskwise: float) -> None:
    for scenario, least in (("class", classwise), ("task", taskwise)):
        assert digits(scenario).accuracy(trained(cls, scenario, epochs=3, lr=0.1, **options)) >= least


@pytest.mark.parametrize("cls", [ICaRL, GSS, ER, ERMIR, DERpp], ids=lambda cls: cls.name)
def test_replay_beats_fine_tuning_class_incrementally(cls: Any) -> None:
    lower = digits("class").accuracy(trained(FineTune, "class", lr=0.1))
    assert digits("class").accuracy(trained(cls, "class", lr=0.1)) > lower + 0.1


def test_a_gem_beats_fine_tuning_class_incrementally() -> None:
    def mean(cls: type[Trainer]) -> float:
        return float(np.mean([digits("class").accuracy(trained(cls, "class", seed=s, lr=0.1)) for s in range(3)]))

    assert mean(AGEM) > mean(FineTune)


# Importance: EWC and SI


@pytest.mark.parametrize("cls", [OnlineEWC, SI], ids=lambda cls: cls.name)
def test_the_penalty_is_zero_on_the_first_task_and_grows_after(cls: type[Anchored]) -> None:
    stream = digits("class")
    learner = cls(stream.info, 0, lr=0.1, strength=1.0)
    (_, X0, y0), (_, X1, y1) = stream.episodes()[:2]
    learner.learn(X0, y0)
    assert learner.penalty() == 0.0
    learner.end_task(False)
    assert learner.penalty() == 0.0  # at the anchor
    learner.learn(X1[:20], y1[:20])
    early = learner.penalty()
    learner.learn(X1[20:], y1[20:])
    assert 0.0 < early < learner.penalty()


@pytest.mark.parametrize("cls", [OnlineEWC, SI], ids=lambda cls: cls.name)
def test_a_stronger_penalty_keeps_important_weights_nearer(cls: type[Anchored]) -> None:
    def moved(strength: float) -> float:
        learner = trained(cls, "class", tasks=1, lr=0.1, strength=strength)
        _, X, y = digits("class").episodes()[1]
        learner.learn(X, y)
        learner.strength = 2.0
        return learner.penalty()  # sum of importance * distance^2

    free, held, nailed = moved(0.0), moved(10.0), moved(1e9)
    assert free > held > nailed >= 0.0  # finite: the implicit step cannot overshoot


def test_importance_of_two_tasks_adds_up() -> None:
    one, two = (trained(OnlineEWC, "class", tasks=n, lr=0.1, strength=1.0) for n in (1, 2))
    assert all((b >= a).all() for a, b in zip(one.importance, two.importance, strict=True))


def test_without_strength_the_importance_methods_are_fine_tuning() -> None:
    plain = trained(FineTune, "class", lr=0.1).params
    for cls in (OnlineEWC, SI):
        held = trained(cls, "class", lr=0.1, strength=0.0).params
        assert all(torch.equal(p, q) for p, q in zip(plain, held, strict=True))


# Distillation: LwF


def test_the_teacher_is_frozen_between_boundaries() -> None:
    learner = trained(LwF, "class", tasks=1, lr=0.1)
    assert not any(p.requires_grad for p in learner.teacher.parameters())
    before = {key: value.clone() for key, value in learner.teacher.state_dict().items()}
    _, X, y = digits("class").episodes()[1]
    learner.learn(X, y)
    assert all(torch.equal(before[key], value) for key, value in learner.teacher.state_dict().items())
    assert not torch.equal(learner.net.head.weight, learner.teacher.head.weight)
    learner.end_task(False)
    assert torch.equal(learner.net.head.weight, learner.teacher.head.weight)


def test_distillation_starts_at_zero_and_spans_the_old_classes_only() -> None:
    learner = LwF(digits("class").info, 0, lr=0.1)
    batch = batch_of(learner, "class", 0)
    assert float(learner.distil(batch.x, learner.net(batch.x))) == 0.0
    learner = trained(LwF, "class", tasks=2, lr=0.1)
    assert [group.tolist() for group in learner.groups()] == [[0, 1, 2, 3]]
    assert [group.tolist() for group in trained(LwF, "task", tasks=2, lr=0.1).groups()] == [[0, 1], [2, 3]]
    output = learner.net(batch.x).detach()
    assert float(learner.distil(batch.x, output)) == pytest.approx(0.0, abs=1e-6)  # student = teacher
    nudged = output.clone()
    nudged[:, 0] += 1.0
    assert float(learner.distil(batch.x, nudged)) > 0.0
    nudged = output.clone()
    nudged[:, 7] += 1.0  # not an old class
    assert float(learner.distil(batch.x, nudged)) == pytest.approx(0.0, abs=1e-6)


# Gradient projection: A-GEM


def test_a_projected_gradient_has_no_negative_inner_product_with_the_reference() -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        g = [torch.randn(5, 4, generator=generator), torch.randn(3, generator=generator)]
        r = [torch.randn(5, 4, generator=generator), torch.randn(3, generator=generator)]
        p = project(g, r)
        if inner(g, r) >= 0:
            assert all(a is b for a, b in zip(g, p, strict=True))
        else:
            assert float(inner(p, r)) == pytest.approx(0.0, abs=1e-4)


def test_a_gem_applies_only_gradients_the_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = trained(AGEM, "class", tasks=1, lr=0.1)
    seen: list[tuple[Any, Any]] = []
    take = AGEM.gradient
    taken: list[tuple[Tensor, ...]] = []
    monkeypatch.setattr(AGEM, "gradient", lambda self, loss: taken.append(take(self, loss)) or taken[-1])
    apply = AGEM.apply
    monkeypatch.setattr(AGEM, "apply", lambda self, g: (seen.append((g, taken[-1])), apply(self, g))[1])
    _, X, y = digits("class").episodes()[1]
    learner.learn(X, y)
    assert any(g is not taken[2 * i] for i, (g, _) in enumerate(seen))  # some were projected
    for g, reference in seen:
        scale = float(inner(g, g) * inner(reference, reference)) ** 0.5
        assert float(inner(g, reference)) >= -1e-5 * scale


# Exemplars: iCaRL


def test_icarl_memory_is_balanced_and_within_its_size() -> None:
    for tasks in (1, 3, 5):
        learner = trained(ICaRL, "class", tasks=tasks, lr=0.1, buffer_size=100)
        held = torch.bincount(learner.buffer["y"], minlength=10)[: 2 * tasks]
        assert held.tolist() == [100 // (2 * tasks)] * (2 * tasks)
        assert len(learner.buffer) == held.sum() <= 100


def test_icarl_goes_on_where_there_are_more_classes_than_exemplars() -> None:
    learner = trained(ICaRL, "class", tasks=3, lr=0.1, buffer_size=5)
    assert len(learner.buffer) == 0
    assert learner.predict(np.zeros((2, 64), np.uint8)).shape == (2,)


def test_herding_follows_the_mean_better_than_chance() -> None:
    features = torch.randn(200, 8, generator=torch.Generator().manual_seed(0))
    order = herd(features, 20)
    assert len(set(order.tolist())) == 20

    def off(rows: Tensor) -> float:
        return float((features[rows].mean(0) - features.mean(0)).norm())

    assert all(off(order[:n]) < off(torch.arange(n)) for n in (5, 10, 20))
    assert len(herd(features[:3], 20)) == 3


def test_old_exemplars_are_a_prefix_of_what_they_were() -> None:
    before = trained(ICaRL, "class", tasks=1, lr=0.1, buffer_size=60)
    after = trained(ICaRL, "class", tasks=2, lr=0.1, buffer_size=60)
    for c in (0, 1):
        old, new = (learner.buffer["x"][learner.buffer["y"] == c] for learner in (before, after))
        assert torch.equal(old[: len(new)], new)


# Gradient diversity: GSS


def test_gradient_cosines_are_those_of_the_whole_gradients() -> None:
    learner = trained(GSS, "class", tasks=1, lr=0.1, hidden=(20, 20))
    a, b = batch_of(learner, "class", 1, 4), batch_of(learner, "class", 0, 3)

    def gradients(batch: Batch) -> Tensor:
        rows = []
        for i in range(len(batch.y)):
            loss = torch.nn.functional.cross_entropy(learner.net(batch.x[i : i + 1]), batch.y[i : i + 1])
            rows.append(torch.cat([g.flatten() for g in learner.gradient(loss)]))
        return torch.nn.functional.normalize(torch.stack(rows))

    expected = gradients(a) @ gradients(b).T
    torch.testing.assert_close(cosines(learner.factors(a), learner.factors(b)), expected, rtol=1e-3, atol=1e-5)


def test_gss_keeps_gradients_less_alike_than_a_reservoir_does() -> None:
    def alikeness(cls: type[GSS | ER]) -> float:
        learner = trained(cls, "class", tasks=2, lr=0.05, buffer_size=40, hidden=(50,))
        judge = GSS(digits("class").info, 0, lr=0.05, hidden=(50,))  # the same fresh network for both buffers
        factors = judge.factors(learner.recall(torch.arange(40)))
        return float(cosines(factors, factors).mean())

    assert alikeness(GSS) < alikeness(ER)


def test_a_full_buffer_takes_no_sample_with_a_like_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = trained(GSS, "class", tasks=1, lr=0.1, buffer_size=30)
    batch, before = batch_of(learner, "class", 1), learner.buffer["x"].clone()
    monkeypatch.setattr(GSS, "similarity", lambda self, b: torch.full((len(b.y),), 1.5))
    learner.select(batch)
    assert torch.equal(learner.buffer["x"], before)
    monkeypatch.setattr(GSS, "similarity", lambda self, b: torch.full((len(b.y),), 0.1))
    learner.select(batch)
    assert not torch.equal(learner.buffer["x"], before)


# Retrieval and dark knowledge: ER-MIR, DER++


def test_mir_retrieves_what_the_coming_step_would_harm_most() -> None:
    learner = trained(ERMIR, "class", tasks=1, lr=0.1, buffer_size=50)
    batch = batch_of(learner, "class", 1)
    weights = [p.detach().clone() for p in learner.params]
    slots = learner.retrieve(batch)
    assert all(torch.equal(p, q) for p, q in zip(weights, learner.params, strict=True))

    def losses(of: Trainer) -> Tensor:
        memory = learner.recall(torch.arange(50))
        return torch.nn.functional.cross_entropy(of.logits(memory.x, None), memory.y, reduction="none").detach()

    before = losses(learner)
    learner.descend(torch.nn.functional.cross_entropy(learner.logits(batch.x, None), batch.y))
    harm = losses(learner) - before
    assert set(slots.tolist()) == set(harm.topk(10).indices.tolist())


def test_derpp_stores_the_logits_of_the_time() -> None:
    stream = digits("class")
    learner = DERpp(stream.info, 0, lr=0.1)
    _, X, y = stream.episodes()[0]
    expected = learner.net(learner.normalise(torch.from_numpy(X[:10].copy()))).detach()
    learner.learn(X[:10], y[:10])
    torch.testing.assert_close(learner.buffer["logits"], expected)
    learner.learn(X[10:50], y[10:50])
    torch.testing.assert_close(learner.buffer["logits"][:10], expected)


def test_derpp_with_task_heads_leaves_other_heads_alone() -> None:
    learner = trained(DERpp, "task", tasks=1, lr=0.1)
    fresh = DERpp(digits("task").info, 0, lr=0.1, hidden=(100,))
    assert torch.equal(learner.net.head.weight[2:], fresh.net.head.weight[2:])
    assert not torch.equal(learner.net.head.weight[:2], fresh.net.head.weight[:2])


# Joint training


def test_iid_offline_keeps_the_stream_and_learns_at_its_end() -> None:
    stream = digits("class")
    learner = trained(IIDOffline, "class", tasks=4, lr=0.1)
    assert learner.synaptic_updates == 0
    _, X, y = stream.episodes()[4]
    learner.learn(X, y)
    assert len(learner.buffer) == len(stream.y)
    assert learner.state_bytes > stream.X.nbytes
    learner.end_task(True)
    assert learner.synaptic_updates > 0


def test_mir_leaves_the_present_task_out_of_its_candidates() -> None:
    learner = trained(ERMIR, "class", tasks=1, lr=0.1, buffer_size=50)
    (_, X, y) = digits("class").episodes()[1]
    learner.learn(X[:100], y[:100])
    here = learner.buffer["number"] == 1
    assert here.any() and not here.all()
    assert not here[learner.eligible()].any() and len(learner.eligible()) <= 50
    fresh = trained(ERMIR, "class", tasks=0, lr=0.1, buffer_size=50)
    fresh.learn(X[:100], y[:100])
    assert len(fresh.eligible()) == 50, "while there is nothing else, anything is a candidate"


def test_the_warm_up_of_lwf_teaches_the_new_output_units_alone() -> None:
    learner = trained(LwF, "class", tasks=1, lr=0.1, warm_up=3)
    before = {name: value.clone() for name, value in learner.net.state_dict().items()}
    (_, X, y) = digits("class").episodes()[1]
    learner.learn(X[:30], y[:30])
    after = learner.net.state_dict()
    moved = {name for name in after if not torch.equal(before[name], after[name])}
    assert moved == {"head.weight", "head.bias"}
    assert torch.equal(before["head.weight"][:2], after["head.weight"][:2])
    learner.learn(X[30:60], y[30:60])
    assert not torch.equal(before["body.0.weight"], learner.net.state_dict()["body.0.weight"])
    with pytest.raises(ConfigError, match="warm_up is -1"):
        trained(LwF, "class", tasks=0, warm_up=-1)
