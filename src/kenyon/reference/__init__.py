"""The whole learner once more, in plain Python and NumPy, equation by equation: the code to read first.

It is short and slow, and defines what the compiled core computes: tests compare the two bit by bit. A sample takes this
path, each step in a file of its own:

    `_scaling.py`             inputs in standard deviations
    `_features.py`            sparse, dense, ramps, identity; `_windows.py` windows; `_activity.py` their threshold
    `_patches.py`             patches; `_leaves.py` their filters
    `_plastic.py`             synapses in float32 that follow a rule (`kenyon.rules`)
    `_local_error.py`         hidden layers
    `_few_bit_weights.py`     synapses of few bits
    `_counting.py`            sums of a class
    `_second_order.py`        co-activity: `_coactivity.py` exact or in floats, `_few_bits.py` in 16 or 24 bits
    `_readout.py`             the readouts that are solved from it; `_integer_readout.py` in integers
    `_learner.py`             all of it, sample after sample
    `_random.py`              what is drawn, and what rounds

>>> Learner(rule="gen", n_hidden=30, random_state=0).partial_fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"]).time
2
"""

from kenyon.reference._learner import Learner

__all__ = ["Learner"]
