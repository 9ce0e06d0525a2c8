"""Numba kernels. Nothing outside this folder knows about blocks, lanes or vector registers.

Every kernel gives the same bits whatever the block size, the number of threads and the way the
samples were cut into calls: integer sums are exact, and floating-point sums have one fixed order.
No kernel uses fast-math.
"""

LANES = 32
"""Samples that go through the projection side by side."""
