"""The methods that Kenyon is compared with, on the same stream and under the same protocol.

Importing this package does not need torch.

>>> BASELINES["er"].memory
'replay'
>>> TUNED.name
'tuned.toml'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kenyon.data.protocol import LearnerSpec
from kenyon.learners.baselines._tuned import TUNED, family, grid_of, tuned_values
from kenyon.utils.lazy import import_on_use

if TYPE_CHECKING:
    from kenyon.learners.baselines._feature_mlp import FeatureMLP
    from kenyon.learners.baselines._trainer import Trainer

__all__ = ["BASELINES", "TUNED", "FeatureMLP", "Trainer", "family", "grid_of", "tuned_values"]

# Scenarios by what a method asks of the stream.
_ANY = (
    *("single-task", "task-incremental", "class-incremental", "domain-incremental", "permuted", "rotated", "task-free"),
    *("i-blurry", "si-blurry"),
)
_BOUNDARIES = tuple(s for s in _ANY if s != "task-free")  # needs task boundaries
_CLASSES = ("single-task", "task-incremental", "class-incremental")  # each class belongs to one task

_ROWS = [
    LearnerSpec(
        "iid-offline",
        "kenyon.learners.baselines._iid_offline:IIDOffline",
        _ANY,
        "whole stream",
        "the upper bound of every comparison",
        "keeps the stream and trains on all of it, shuffled, for several epochs at its end",
    ),
    LearnerSpec(
        "fine-tune",
        "kenyon.learners.baselines._fine_tune:FineTune",
        _ANY,
        "none",
        "the lower bound of every comparison",
        "SGD on the stream as it comes",
    ),
    LearnerSpec(
        "online-ewc",
        "kenyon.learners.baselines._online_ewc:OnlineEWC",
        _BOUNDARIES,
        "importance",
        "Schwarz et al., Progress & Compress, 2018; Kirkpatrick et al., 2017",
        "holds weights near their old values, weighted by a running Fisher information",
    ),
    LearnerSpec(
        "si",
        "kenyon.learners.baselines._si:SI",
        _BOUNDARIES,
        "importance",
        "Zenke, Poole & Ganguli, Continual Learning Through Synaptic Intelligence, 2017",
        "holds weights near their old values, weighted by their share in the fall of the loss",
    ),
    LearnerSpec(
        "lwf",
        "kenyon.learners.baselines._lwf:LwF",
        _BOUNDARIES,
        "teacher",
        "Li & Hoiem, Learning without Forgetting, 2016",
        "keeps the old outputs on new samples where the network before the task had them",
    ),
    LearnerSpec(
        "a-gem",
        "kenyon.learners.baselines._a_gem:AGEM",
        _ANY,
        "replay",
        "Chaudhry et al., Efficient Lifelong Learning with A-GEM, 2019",
        "projects a gradient that would raise the loss on remembered samples",
    ),
    LearnerSpec(
        "icarl",
        "kenyon.learners.baselines._icarl:ICaRL",
        _CLASSES,
        "replay + teacher",
        "Rebuffi et al., iCaRL: Incremental Classifier and Representation Learning, 2017",
        "herded exemplars, distillation, nearest mean of exemplars",
    ),
    LearnerSpec(
        "gss",
        "kenyon.learners.baselines._gss:GSS",
        _ANY,
        "replay",
        "Aljundi et al., Gradient Based Sample Selection for Online Continual Learning, 2019",
        "replay from a buffer that prefers samples with gradients unlike the others'",
    ),
    LearnerSpec(
        "er",
        "kenyon.learners.baselines._er:ER",
        _ANY,
        "replay",
        "Chaudhry et al., On Tiny Episodic Memories in Continual Learning, 2019",
        "learns each batch together with one drawn from a reservoir of past samples",
    ),
    LearnerSpec(
        "er-mir",
        "kenyon.learners.baselines._er_mir:ERMIR",
        _ANY,
        "replay",
        "Aljundi et al., Online Continual Learning with Maximally Interfered Retrieval, 2019",
        "replays the remembered samples whose loss the coming update would raise most",
    ),
    LearnerSpec(
        "der++",
        "kenyon.learners.baselines._derpp:DERpp",
        _ANY,
        "replay",
        "Buzzega et al., Dark Experience for General Continual Learning, 2020",
        "replays labels and the logits of the time the samples were met",
    ),
    LearnerSpec(
        "rpsnet",
        "kenyon.learners.baselines._rpsnet:RPSNet",
        _CLASSES,
        "replay + teacher",
        "Rajasegaran et al., Random Path Selection for Incremental Learning, 2019",
        "picks a random path through parallel modules for new tasks and freezes the old ones",
    ),
    LearnerSpec(
        "instaparam",
        "kenyon.learners.baselines._instaparam:InstAParam",
        ("single-task", "task-incremental"),
        "gate history",
        "Chen et al., Mitigating Forgetting in Online Continual Learning via Instance-Aware Parameterization, 2020",
        "a controller gates blocks of the network sample by sample",
    ),
    LearnerSpec(
        "cn-dpm",
        "kenyon.learners.baselines._cndpm:CNDPM",
        _ANY,
        "short-term memory + experts",
        "Lee et al., A Neural Dirichlet Process Mixture Model for Task-Free Continual Learning, 2020",
        "a Dirichlet process mixture of experts, each a classifier and a VAE, that grows with the data",
    ),
    LearnerSpec(
        "phsic",
        "kenyon.learners.baselines._phsic:PHSIC",
        ("single-task",),
        "none",
        "Pogodin & Latham, Kernelized Information Bottleneck Leads to Biologically Plausible 3-Factor Hebbian "
        "Learning in Deep Networks, 2020",
        "layer-wise pHSIC objective, a three-factor Hebbian rule, no backpropagation",
    ),
    LearnerSpec(
        "ncm",
        "kenyon.learners.baselines._ncm:NCM",
        _ANY,
        "class means",
        "Mensink et al., Distance-Based Image Classification, 2013",
        "nearest class mean of the raw features",
    ),
    LearnerSpec(
        "slda",
        "kenyon.learners.baselines._slda:StreamingLDA",
        _ANY,
        "class means + covariance",
        "Hayes & Kanan, Lifelong Machine Learning with Deep Streaming Linear Discriminant Analysis, 2020",
        "running class means and one shared covariance",
    ),
    LearnerSpec(
        "flymodel",
        "kenyon.learners.baselines._flymodel:FlyModel",
        _ANY,
        "class weights",
        "Shen, Dasgupta & Navlakha, Reducing Catastrophic Forgetting with Associative Learning: A Lesson from "
        "Fruit Flies, 2023",
        "sparse random expansion, winner-take-all, associative update of the labelled class only",
    ),
    LearnerSpec(
        "randumb",
        "kenyon.learners.baselines._randumb:RanDumb",
        _ANY,
        "class means + covariance",
        "Prabhu et al., RanDumb: Random Representations Outperform Online Continually Learned Representations, 2024",
        "random Fourier features and Mahalanobis distance to the class means",
    ),
]

BASELINES: dict[str, LearnerSpec] = {row.name: row for row in _ROWS}
"""The methods by name, in the order in which they are listed."""


_NEEDS_TORCH = {"_trainer": "Trainer", "_feature_mlp": "FeatureMLP", "_networks": "build_network"}
_, __getattr__ = import_on_use(__name__, _NEEDS_TORCH, needs=("torch", "baselines"))
