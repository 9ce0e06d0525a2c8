"""The learner of the first ablation, under the name that stores and published results know it by."""

from kenyon.baselines import FeatureMLP

__all__ = ["FeatureMLP"]
