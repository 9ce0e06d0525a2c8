"""Images on their way into a network: colour, size, normalisation, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from kenyon.data.backbones._images import NORMALISATIONS, ImagePipeline, find_normalisation, resize_matrix
from kenyon.errors import ConfigError, InputError

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="needs the extra 'baselines'")


def pixels(shape: tuple[int, ...], n: int = 3) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (n, *shape), dtype=np.uint8)


def pipeline(shape: tuple[int, ...], size: int, how: str = "bilinear", **options: object) -> ImagePipeline:
    return ImagePipeline(shape, (0.0, 255.0), size, how, NORMALISATIONS["none"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("height", "width", "size"), [(32, 32, 128), (32, 32, 224), (20, 30, 24), (40, 33, 9)])
def test_resizing_is_pytorchs(how: str, height: int, width: int, size: int) -> None:
    images = pixels((3, height, width))
    # PyTorch's own kernel for enlarging by cubes has another constant unless it also smooths
    wanted = torch.nn.functional.interpolate(
        torch.tensor(images).double(), size=(size, size), mode=how, align_corners=False, antialias=True
    )
    seen = pipeline((3, height, width), size, how)(images.reshape(3, -1))
    np.testing.assert_allclose(seen, wanted.numpy(), atol=2e-3)


def test_enlarging_needs_no_smoothing() -> None:
    images = pixels((3, 32, 32))
    wanted = torch.nn.functional.interpolate(torch.tensor(images).float(), size=(128, 128), mode="bilinear")
    np.testing.assert_allclose(pipeline((3, 32, 32), 128)(images.reshape(3, -1)), wanted.numpy(), atol=1e-3)


@pytest.mark.parametrize("size", [5, 24, 64])
def test_nearest_copies_pixels(size: int) -> None:
    images = pixels((3, 24, 24))
    wanted = torch.nn.functional.interpolate(torch.tensor(images).float(), size=(size, size), mode="nearest-exact")
    np.testing.assert_array_equal(pipeline((3, 24, 24), size, "nearest")(images.reshape(3, -1)), wanted.numpy())


@pytest.mark.parametrize("how", ["nearest", "bilinear", "bicubic"])
def test_a_flat_image_stays_flat(how: str) -> None:
    for size, wanted in ((32, 128), (32, 7), (1, 5), (5, 1)):
        np.testing.assert_allclose(resize_matrix(size, wanted, how).sum(axis=1), 1.0, atol=1e-6)


def test_the_same_size_is_left_alone() -> None:
    images = pixels((3, 16, 16))
    np.testing.assert_array_equal(pipeline((3, 16, 16), 16)(images.reshape(3, -1)), images.astype(np.float32))


def test_normalisation_is_per_channel_on_the_scale_of_bytes() -> None:
    images = pixels((3, 4, 4))
    mean, std = (np.array(v)[:, None, None] for v in NORMALISATIONS["imagenet"])
    seen = ImagePipeline((3, 4, 4), (0.0, 255.0), 4, "bilinear", NORMALISATIONS["imagenet"])(images.reshape(3, -1))
    np.testing.assert_allclose(seen, (images - mean) / std, atol=1e-5)
    halved = ImagePipeline((3, 4, 4), (0.0, 127.5), 4, "bilinear", NORMALISATIONS["imagenet"])
    np.testing.assert_allclose(halved(images.reshape(3, -1) / np.float32(2)), seen, atol=1e-4)
    shifted = ImagePipeline((3, 4, 4), (-1.0, 1.0), 4, "bilinear", NORMALISATIONS["imagenet"])
    np.testing.assert_allclose(shifted(images.reshape(3, -1) / np.float32(127.5) - 1), seen, atol=1e-4)


def test_lite_normalisation_is_the_one_it_was_trained_with() -> None:
    assert find_normalisation("tensorflow") == ((127.0,) * 3, (128.0,) * 3)


@pytest.mark.parametrize("shape", [(9, 9), (1, 9, 9)])
def test_grey_images_are_refused_unless_repeating_is_asked_for(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"grey.*greyscale = 'repeat'"):
        pipeline(shape, 9)
    images = pixels(shape)
    seen = pipeline(shape, 9, greyscale="repeat")(images.reshape(3, -1))
    assert seen.shape == (3, 3, 9, 9)
    for channel in range(3):
        np.testing.assert_array_equal(seen[:, channel], images.reshape(3, 9, 9))


@pytest.mark.parametrize("shape", [(4, 9, 9), (9, 9, 3), (2, 9, 9), (100,), (3, 3, 9, 9)])
def test_other_shapes_are_refused_by_name(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"shape \(.*expected|takes images of shape \(3, height, width\)"):
        pipeline(shape, 9, greyscale="repeat")


def test_images_of_another_size_than_announced() -> None:
    with pytest.raises(InputError, match=r"\(2, 300\).*\(n, 243\)"):
        pipeline((3, 9, 9), 9)(np.zeros((2, 300), np.uint8))


@pytest.mark.parametrize("value", ["imagnet", [[1, 2], [3, 4]], [[0, 0, 0], [1, 0, 1]], 3, None, [["a"] * 3] * 2])
def test_a_wrong_normalisation(value: object) -> None:
    with pytest.raises(ConfigError, match="normalisation"):
        find_normalisation(value)
