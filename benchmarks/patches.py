"""Features of colour images against the same in PyTorch: processor time a sample, on one thread.

    python benchmarks/patches.py
    python benchmarks/patches.py --units 3950 --views 3

PyTorch has the samples in batches, unfolds them into normalised patches once, and multiplies the patches around each
point by the filters of that point, as float32; the mirror image is that of the filters, as in Kenyon. Both answers
are compared first. Last, what a classifier takes to learn a sample, features included, in blocks and one by one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from kenyon import KenyonClassifier, Patches, SecondOrder
from kenyon.features import BLOCK, PatchUnits

SHAPE, SIZE, SHIFTS, GRID = (32, 32, 3), 4, 6, 5


def ours(features: PatchUnits) -> Callable[[NDArray], NDArray]:
    """x of samples, by Kenyon."""
    workspace = features.workspace()

    def answer(samples: NDArray) -> NDArray:
        out = np.zeros((len(samples), features.n_outputs), np.uint8)
        for start in range(0, len(samples), BLOCK):
            some = samples[start : start + BLOCK]
            units, values, counts = features.activate(some, workspace)
            for s in range(len(some)):
                out[start + s, units[s, : counts[s]]] = values[s, : counts[s]]
        return out

    return answer


def torchs(features: PatchUnits) -> Callable[[NDArray], NDArray]:
    """x of samples, by PyTorch."""
    n, pool = features.n_outputs, 2 * SHIFTS + 1
    own = torch.tensor(features.filters.astype(np.float32) / 30).reshape(n, SIZE, SIZE, 3).permute(0, 3, 1, 2)
    filters = [own.reshape(n, -1), own.flip(3).reshape(n, -1)]
    corners = [point * (SHAPE[0] - SIZE) // (GRID - 1) for point in range(GRID)]

    def answer(samples: NDArray) -> NDArray:
        images = torch.from_numpy(samples).reshape(-1, *SHAPE).permute(0, 3, 1, 2).float()
        patches = torch.nn.functional.unfold(images, SIZE, padding=SHIFTS)  # (samples, values, places)
        patches = patches - patches.mean(dim=1, keepdim=True)
        patches = patches / torch.sqrt((patches**2).mean(dim=1, keepdim=True) + 10)
        side = SHAPE[0] + 2 * SHIFTS - SIZE + 1
        patches = patches.reshape(len(samples), -1, side, side)
        out = torch.zeros(len(samples), n)
        for point in range(GRID * GRID):
            top, left = corners[point // GRID], corners[point % GRID]
            for mine, start in zip(filters, (left, side - pool - left), strict=True):
                part = patches[:, :, top : top + pool, start : start + pool].reshape(len(samples), -1, pool * pool)
                above = torch.relu(mine[point :: GRID * GRID] @ part - 0.5)
                out[:, point :: GRID * GRID] += torch.sqrt(above.mean(dim=2)) / 2
        return torch.clamp(128 * out, max=255).numpy()

    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=1550, help="1,550 units are about 5 MB")
    parser.add_argument("--views", type=int, default=1, help="views of a sample; PyTorch has one in any case")
    parser.add_argument("--samples", type=int, default=512)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    blurred = rng.integers(0, 256, (arguments.samples, 16, 16, 3)).repeat(2, axis=1).repeat(2, axis=2)
    samples = (blurred // 2 + rng.integers(0, 128, (arguments.samples, *SHAPE))).astype(np.uint8)
    samples = samples.reshape(arguments.samples, -1)
    fast = ours(PatchUnits(SHAPE, arguments.units, views=arguments.views))
    slow = torchs(PatchUnits(SHAPE, arguments.units))
    if arguments.views == 1:
        print(f"largest difference: {np.abs(fast(samples[:16]) - slow(samples[:16])).max():.2f} of 255")
    times = []
    for answer, batch in ((fast, len(samples)), (slow, 32)):
        answer(samples[:batch])
        start = time.process_time()
        for first in range(0, len(samples), batch):
            answer(samples[first : first + batch])
        times.append(1000 * (time.process_time() - start) / len(samples))
    ratio = times[1] / times[0]
    print(f"{arguments.units} units, ms a sample: Kenyon {times[0]:.3f}, PyTorch {times[1]:.3f}: {ratio:.1f} times")
    part = Patches(shape=SHAPE, units=arguments.units, views=arguments.views)
    clf = KenyonClassifier(features=part, layer=SecondOrder(), random_state=0)
    labels = np.arange(len(samples)) % 10
    clf.partial_fit(samples[:64], labels[:64])
    for name, step in (("in blocks", len(samples)), ("one by one", 1)):
        start = time.process_time()
        for first in range(0, len(samples), step):
            clf.partial_fit(samples[first : first + step], labels[first : first + step])
        print(f"learning {name}, ms a sample: {1000 * (time.process_time() - start) / len(samples):.3f}")


if __name__ == "__main__":
    main()
