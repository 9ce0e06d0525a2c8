"""The learner of the first ablation, under the name that stores and published results know it by."""

from kenyon.learners.baselines import FeatureMLP

__all__ = ["FeatureMLP"]
