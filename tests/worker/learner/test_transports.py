"""Every transport of weights: what is packed arrives whole, and the probe finds what does not."""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from worker.engine.readback import ReadBack
from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.errors import ProbeFailed
from worker.learner.probe.evidence import Evidence
from worker.learner.publication import Publication
from worker.learner.transport import TRANSPORTS, WeightTransport
from worker.learner.transport.topology import Topology
from worker.learner.weights import bundle


class ToyPolicy:
    """Scores a token by the product of two weights: learner and engine in one."""

    engine_fp8 = None
    read_share = 1.0

    def __init__(self, seed: int) -> None:
        self.version = seed
        rng = torch.Generator().manual_seed(seed)
        self.tensors = {
            "embed.weight": torch.rand(8, 3, generator=rng).bfloat16(),
            "head.weight": torch.rand(3, 8, generator=rng),
        }

    def layers(self) -> Iterator[dict[str, Tensor]]:
        """Layers whose memory is used again for the next, as a learner's may be."""
        for name, tensor in self.tensors.items():
            lent = tensor.clone()
            yield {name: lent}
            lent.zero_()

    def load_weights(self, version: int, tensors: Mapping[str, Tensor], *, kv: str) -> None:
        self.version, self.tensors = version, {name: tensor.clone() for name, tensor in tensors.items()}

    def score_rounded_otherwise(self, sequences: Sequence[Sequence[int]]) -> None:
        """The scores are exact."""

    def read_weights(self, columns: Mapping[int, NDArray[np.int64]]) -> list[ReadBack]:
        return [
            ReadBack(name, name, tensor.dtype, tensor[:, torch.from_numpy(columns[tensor.shape[1]])].float().numpy())
            for name, tensor in self.tensors.items()
            if tensor.shape[1] in columns
        ]

    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        rows = (self.tensors["embed.weight"].float() @ self.tensors["head.weight"]).log_softmax(dim=1)
        return [[float(rows[a, b]) for a, b in pairwise(line)] for line in sequences]


@pytest.fixture(params=sorted(name for name, one in TRANSPORTS.items() if not one.on_device))
def transport(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WeightTransport]:
    """The learner's half. What travels on a device is tested in ``tests/gpu``."""
    found = TRANSPORTS[request.param]
    sender = found.sender(Topology(location=str(tmp_path), folder="run-1"))
    yield sender
    sender.close()


def carried(learner: Any, transport: WeightTransport) -> Any:
    """A bundle as another process gets it."""
    return pickle.loads(pickle.dumps(bundle(learner, [[0, 3, 5], [7, 1]], Publication(transport))))


def test_what_is_packed_arrives_whole(transport: WeightTransport) -> None:
    engine = ToyPolicy(9)
    for learner in (ToyPolicy(1), ToyPolicy(2)):
        sent = carried(learner, transport)
        assert (sent.version, sent.transport) == (learner.version, transport.name)
        assert apply_and_probe(engine, sent, 1e-9).largest == 0.0
        assert engine.version == learner.version
        for name, weight in learner.tensors.items():
            assert engine.tensors[name].dtype == weight.dtype
            assert torch.equal(engine.tensors[name], weight)


def test_a_version_is_unpacked_again_for_an_engine_that_was_replaced(transport: WeightTransport) -> None:
    sent = carried(ToyPolicy(3), transport)
    for engine in (ToyPolicy(4), ToyPolicy(5)):
        assert apply_and_probe(engine, sent, 1e-9).largest == 0.0


def test_weights_of_another_version_are_found_by_the_probe(transport: WeightTransport) -> None:
    publication = Publication(transport)
    old, new = (bundle(learner, [[0, 3, 5], [7, 1]], publication) for learner in (ToyPolicy(6), ToyPolicy(7)))
    mixed = replace(new, tensors=old.tensors)
    with pytest.raises(ProbeFailed, match=r"weights 7: 2 of 2 tensors in the engine are not as published"):
        apply_and_probe(ToyPolicy(8), mixed, 1e-3)
    with pytest.raises(ProbeFailed, match=r"weights 7: engine and learner differ by .* nats on average"):
        apply_and_probe(ToyPolicy(8), replace(mixed, evidence=Evidence()), 1e-3)
