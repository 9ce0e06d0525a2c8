"""A Ray cluster: one that is running already, or a new one on this machine, which no other machine can reach."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

from kenyon.errors import KenyonError, require
from kenyon.utils.parallel._attempt import attempt
from kenyon.utils.system import n_cores

_SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # no cluster on any system: every part listens on 127.0.0.1 alone
    "RAY_USAGE_STATS_ENABLED": "0",
}


class RayCluster:
    """One CPU per job, a share of a GPU where jobs ask for it, and as many jobs as the cluster has room for.

    Every node needs this package and the data sets, and must see the folders that jobs write to.

    Args:
        workers: the most jobs at a time; None for every CPU of the cluster.
        address: the address of the cluster; None for the cluster that this process has joined, else `RAY_ADDRESS`, else
            a new one on this machine.
        gpus: how much of a GPU each job takes; the cluster shows each job its own.
    """

    def __init__(self, workers: int | None, address: str | None, gpus: float = 0.0) -> None:
        self._busy: dict[Any, int] = {}
        address = address or os.environ.get("RAY_ADDRESS")
        with _set_where_unset({} if address else _SETTINGS):  # Ray reads them when it is imported
            self._ray: Any = require("ray", "ray", "the engine 'ray'")
            self._joined = not self._ray.is_initialized()
            if self._joined:
                cpus = None if address else workers or n_cores()
                own: dict[str, Any] = {} if address else {"include_dashboard": False}
                self._ray.init(address or "local", num_cpus=cpus, log_to_driver=False, logging_level="ERROR", **own)
        if self._joined and not address:
            self._refuse_other_machines()
        self._workers, self._gpus = workers, gpus
        if gpus and not self._ray.cluster_resources().get("GPU"):
            self.close()
            raise KenyonError(f"each job is to take {gpus:g} of a GPU, and the cluster has none")
        # A job whose worker dies is started again by the pool, the same for every engine.
        self._attempt = self._ray.remote(num_cpus=1, num_gpus=gpus, max_retries=0)(attempt)

    def _refuse_other_machines(self) -> None:
        here = self._ray.util.get_node_ip_address()
        if not ip_address(here).is_loopback:
            self._ray.shutdown()
            raise KenyonError(
                f"Ray would listen on {here}, where other machines reach it, because it was imported before: set "
                "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 before Python starts, or start a cluster and give its address"
            )

    @property
    def capacity(self) -> int:
        resources = self._ray.cluster_resources()
        room = max(1, int(resources.get("CPU", 1)))
        if self._gpus:
            room = min(room, max(1, int(resources.get("GPU", 0) / self._gpus)))
        return room if self._workers is None else min(room, self._workers)

    def start(self, number: int, call: bytes) -> None:
        self._busy[self._attempt.remote(call)] = number

    def wait(self, timeout: float) -> list[tuple[int, bytes | str]]:
        if not self._busy:
            return []
        ready, _ = self._ray.wait(list(self._busy), num_returns=1, timeout=timeout)
        ended: list[tuple[int, bytes | str]] = []
        for reference in ready:
            number = self._busy.pop(reference)
            try:
                ended.append((number, self._ray.get(reference)))
            except self._ray.exceptions.RayError as error:
                first = (str(error).splitlines() or [""])[0]
                ended.append((number, f"its worker died ({type(error).__name__}: {first})"))
        return ended

    def close(self) -> None:
        for reference in self._busy:
            self._ray.cancel(reference, force=True)
        self._busy = {}
        if self._joined:
            self._ray.shutdown()


@contextmanager
def _set_where_unset(values: dict[str, str]) -> Iterator[None]:
    mine = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(mine)
    try:
        yield
    finally:
        for name in mine:
            os.environ.pop(name, None)
