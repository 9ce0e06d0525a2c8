"""From a backbone's configuration to the network that runs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from kenyon.data.backbones._config import BackboneConfig
from kenyon.data.backbones._onnx import OnnxNetwork, to_onnx
from kenyon.data.backbones._table import find_backbone
from kenyon.data.backbones._weights import check_weights, find_weights, load_weights
from kenyon.errors import ConfigError, DataError, require
from kenyon.utils.outside import load_function


class NetworkSource:
    """A network that is opened when it is first needed, but can say at once which one it is.

    Args:
        config: which one.
        data_dir: where downloaded weights are kept.
    """

    def __init__(self, config: BackboneConfig, data_dir: Path) -> None:
        self._config = config
        self._data_dir = data_dir
        self._graph: bytes | None = None

    @property
    def identity(self) -> dict[str, str]:
        """Plain values that change with the network or its weights.

        A module from outside is named by the content of its graph, since nothing else tells that its code changed.
        """
        config = self._config
        if config.kind == "module":
            return {"backbone": "module", "weights": hashlib.sha256(self.graph()).hexdigest()}
        name = "onnx" if config.kind == "onnx" else config.name
        return {"backbone": name, "weights": config.sha256 or find_backbone(config.name).sha256}

    def graph(self) -> bytes:
        """The network as an ONNX model."""
        if self._graph is None:
            self._graph = self._read() if self._config.kind == "onnx" else self._trace()
        return self._graph

    def open(self) -> OnnxNetwork:
        """The network, ready to run."""
        assert self._config.resolution is not None  # filled in by the configuration
        return OnnxNetwork(self.graph(), self._config.resolution, self._config.name)

    def _read(self) -> bytes:
        path = Path(self._config.name)
        check_weights(path, self._config.sha256 or "")
        try:
            return path.read_bytes()
        except OSError as error:
            raise DataError(f"the backbone {path} cannot be read: {error.strerror}") from error

    def _trace(self) -> bytes:
        config = self._config
        assert config.resolution is not None
        return to_onnx(self.module(), config.resolution, config.name)

    def module(self) -> Any:
        """The network in PyTorch, with its weights."""
        config = self._config
        if config.kind == "onnx":
            raise ConfigError(f"{config.name!r} is an ONNX graph: there is no PyTorch module of it")
        torch = require("torch", "backbones", "a backbone")
        if config.kind == "module":
            module = load_function(config.name, "backbone")()
            if not isinstance(module, torch.nn.Module):
                raise ConfigError(f"backbone = {config.name!r} returned {type(module).__name__}: expected an nn.Module")
            return module
        spec = find_backbone(config.name)
        module = load_function(spec.target, "backbone")()
        path = Path(config.weights) if config.weights else find_weights(spec, self._data_dir)
        check_weights(path, config.sha256 or spec.sha256)
        load_weights(module, path, config.name)
        return module
