"""Weights from one process to another: seconds, bytes, the receiver's pause and both sides' memory, by transport."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.bench.memory_watch import MIB, watched
from tests.bench.report import Figure

if TYPE_CHECKING:
    from torch import Tensor

SIZES = {"10 M": (4, 1536, 1600), "135 M": (30, 1536, 2928), "1 B": (32, 4096, 7630)}
"""Layers, and rows and columns of the one matrix of each, by the number of parameters in bfloat16."""
TRANSPORTS = ("object_store", "shared_memory", "distributed", "files")
SHARE = 0.025
"""Share of the weights that moves in a step."""
TURNS = 3
"""Versions of each kind, of which the first is left out: it meets cold memory and makes connections."""
CHUNK = 64 * MIB


def measure_transports() -> list[Figure]:
    """Figures of all transports and sizes, whole and changes alone."""
    import ray

    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - Ray lends its workers little priority
    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    environment = {"env_vars": {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}}
    ray.init(
        "local",
        num_cpus=2,
        object_store_memory=6 << 30,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env=environment,
    )
    figures = []
    for size, shape in SIZES.items():
        for transport in TRANSPORTS:
            figures += _figures(f"{size}, {transport}", _travel(transport, *shape))
            gc.collect()
    ray.shutdown()
    return figures


class Receiver:
    """An engine's half without the engine: parameters of its own, into which versions are copied."""

    def __init__(self, transport: str, layers: int, rows: int, columns: int) -> None:
        """Parameters of the same shapes as the learner's."""
        import torch

        torch.set_num_threads(1)
        self._transport = transport
        self._parameters = {name: torch.zeros(rows, columns).bfloat16() for name in _names(layers)}

    def receive(self, packed: Any, digests: dict[str, bytes] | None) -> dict[str, float]:
        """Fetch a version, load it, and prove it where only changes have come; seconds, and MiB at the most."""
        from trainer_core.update.formats.changes import apply, digest, touched
        from worker.learner.transport import TRANSPORTS

        fetch, pause, prove, peaks = list[float](), list[float](), list[float](), list[float]()
        with watched(fetch, peaks):
            tensors = TRANSPORTS[self._transport].unpack(packed)
        with watched(pause, peaks):
            if digests is None:
                for name, parameter in self._parameters.items():
                    parameter.copy_(tensors[name])
            else:
                for name in touched(tensors):
                    apply(self._parameters[name], name, tensors)
        with watched(prove, peaks):
            wrong = [name for name, found in (digests or {}).items() if digest(self._parameters[name]) != found]
        if wrong:
            raise RuntimeError(f"{wrong} are not what was sent")
        return {"fetch": fetch[0], "pause": pause[0], "prove": prove[0], "engine": max(peaks)}

    def copy_seconds(self, size: int) -> float:
        """Seconds of one copy of so many bytes within memory that both sides have touched."""
        import torch

        source, target = torch.ones(CHUNK, dtype=torch.uint8), torch.zeros(CHUNK, dtype=torch.uint8)
        started = time.perf_counter()
        for done in range(0, size, CHUNK):
            part = min(CHUNK, size - done)
            target[:part].copy_(source[:part])
        return time.perf_counter() - started


def _names(layers: int) -> list[str]:
    return [f"model.layers.{layer}.weight" for layer in range(layers)]


def _travel(transport: str, layers: int, rows: int, columns: int) -> dict[str, dict[str, float]]:
    """Figures of the whole and of changes."""
    import ray
    import torch

    from worker.learner.publication import Publication
    from worker.learner.transport import TRANSPORTS
    from worker.learner.transport.topology import Topology

    torch.set_num_threads(1)
    tensors = {name: torch.randn(rows, columns).bfloat16() for name in _names(layers)}
    receiver = ray.remote(Receiver).remote(transport, layers, rows, columns)
    rows_of: dict[str, list[dict[str, float]]] = {"whole": [], "changes": []}
    with tempfile.TemporaryDirectory() as folder:
        sender = TRANSPORTS[transport].sender(Topology(location=folder, folder="run-1"))
        publication = Publication(sender, smallest=0)
        for version in range(2 * TURNS):
            whole = version < TURNS
            _move(tensors)
            publish, learner = list[float](), list[float]()
            started = time.perf_counter()
            with watched(publish, learner):
                publication.add(version, ({name: one} for name, one in tensors.items()), whole=whole)
            chain = publication.chain
            given = (publication.base, None) if whole else (chain[-1].packed, dict(chain[-1].digests))
            answer = ray.get(receiver.receive.remote(*given))
            everything = sum(one.nbytes for one in tensors.values())
            size = everything if whole else chain[-1].size
            copied = ray.get(receiver.copy_seconds.remote(size))
            rows_of["whole" if whole else "changes"].append(
                {
                    **answer,
                    "all": time.perf_counter() - started - copied,
                    "publish": publish[0],
                    "learner": learner[0],
                    "sent": size / MIB,
                    "share": size / everything,
                    "copy": copied,
                }
            )
        sender.close()
    ray.kill(receiver)
    return {way: _typical(found[1:]) for way, found in rows_of.items()}


def _typical(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(one[name] for one in found) for name in found[0]}


def _move(tensors: dict[str, Tensor]) -> None:
    import torch

    for tensor in tensors.values():
        flat = tensor.view(-1)
        start = int(torch.randint(0, 40, (1,)))
        flat[start :: round(1 / SHARE)] *= 1.0 + 2.0**-7  # evenly spread, as the places of a real step are


def _figures(name: str, found: dict[str, dict[str, float]]) -> Iterator[Figure]:
    for way, one in found.items():
        label = f"{name}, {way}"
        target = "≤ 1.3" if way == "whole" else ""
        yield Figure(f"{label}: from publishing to loaded", 1000 * one["all"], "ms")
        yield Figure(f"{label}:   publishing", 1000 * one["publish"], "ms")
        yield Figure(f"{label}:   fetching", 1000 * one["fetch"], "ms")
        yield Figure(f"{label}:   paused", 1000 * one["pause"], "ms")
        yield Figure(f"{label}: paused / one copy of the bytes", one["pause"] / one["copy"], "times", target)
        yield Figure(f"{label}: sent", one["sent"], "MiB")
        yield Figure(f"{label}: own memory of learner", one["learner"], "MiB")
        yield Figure(f"{label}: own memory of engine", one["engine"], "MiB")
        if way == "changes":
            yield Figure(f"{label}: sent / whole", 100 * one["share"], "%", "≤ 3")
            yield Figure(f"{label}: proof by digests", 1000 * one["prove"], "ms")
