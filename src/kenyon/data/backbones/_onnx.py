"""Networks as ONNX graphs: made from PyTorch modules, run by ONNX Runtime, which folds the batch norms."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kenyon.errors import ConfigError, InputError, ModelFileError, require

BATCH = 8
"""Images per call: enough to share the overhead, few enough that a layer's activity stays in the cache."""


def to_onnx(module: Any, resolution: int, what: str) -> bytes:
    """The inference graph of an `nn.Module` for images of one size, in any number.

    Args:
        module: takes `(n, 3, resolution, resolution)`.
        what: the network's name, for messages.
    """
    torch = require("torch", "backbones", "a backbone")
    require("onnx", "backbones", "a backbone")
    file = io.BytesIO()
    module = module.eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracing exporter announces its retirement; it needs no more packages
        try:
            torch.onnx.export(
                module,
                (torch.zeros(2, 3, resolution, resolution),),
                file,
                input_names=["images"],
                output_names=["features"],
                dynamic_axes={"images": {0: "n"}, "features": {0: "n"}},
                opset_version=17,
                dynamo=False,
            )
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ConfigError(
                f"the network {what} cannot be traced for {resolution} x {resolution} images ({reason}): expected an "
                "nn.Module that takes (n, 3, height, width) floats; or give an ONNX file"
            ) from error
    return file.getvalue()


class OnnxNetwork:
    """A frozen network. Each call runs in the thread that makes it; several may call at once.

    Args:
        model: the graph; one input `(n, 3, height, width)` of floats, whose first output is `(n, features)`, or
            `(n, features, height, width)`, which is then averaged over the image.
        resolution: height and width of the images.
        what: the network's name, for messages.
    """

    def __init__(self, model: bytes, resolution: int, what: str) -> None:
        runtime = require("onnxruntime", "backbones", "a backbone")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # threads take a batch each, see `Pretrained`, and never wait for each other
        options.log_severity_level = 3
        try:
            self._session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ModelFileError(f"{what} is not a whole ONNX model in one file: {reason}") from error
        inputs = self._session.get_inputs()
        shape = inputs[0].shape if len(inputs) == 1 else []
        wanted = (None, 3, resolution, resolution)
        fixed = [isinstance(size, int) and want not in (None, size) for size, want in zip(shape, wanted, strict=False)]
        if len(shape) != 4 or any(fixed) or inputs[0].type != "tensor(float)":
            seen = ", ".join(f"{i.name}: {i.type} {i.shape}" for i in inputs)
            raise ModelFileError(
                f"{what} takes in {seen}: expected one input of floats, (n, 3, {resolution}, {resolution})"
            )
        self.nbytes = len(model)
        self._what, self._input, self._output = what, inputs[0].name, self._session.get_outputs()[0].name
        self.batch = shape[0] if isinstance(shape[0], int) else BATCH

    def __call__(self, images: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features of up to `batch` images."""
        n = len(images)
        if n < self.batch:  # a graph may have been made for one number of images only
            images = np.concatenate([images, np.zeros((self.batch - n, *images.shape[1:]), np.float32)])
        try:
            features = self._session.run([self._output], {self._input: images})[0]
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ModelFileError(f"{self._what} cannot be run on {self.batch} images: {reason}") from error
        if not isinstance(features, np.ndarray):
            raise ModelFileError(f"{self._what} gives a {type(features).__name__}: expected an array of features")
        if features.ndim == 4:
            features = features.mean(axis=(2, 3))
        if features.ndim != 2 or len(features) != self.batch or features.dtype != np.float32:
            raise ModelFileError(
                f"{self._what} gives {features.dtype} of shape {features.shape} for {self.batch} images: expected "
                "float32 of shape (n, features) or (n, features, height, width)"
            )
        if not np.isfinite(features).all():
            raise InputError(f"{self._what} gives features that are not finite: check its weights and normalisation")
        return features[:n]
