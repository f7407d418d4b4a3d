"""Evidence that the learner sends with a version of its weights, used to check engines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainer_core.update.formats.joint import matrices
from trainer_core.update.formats.quantise import Scales, rounded_weight

FIXED, ROTATING = 8, 4
"""Numbers of columns of each matrix that are read back: the same ones at every version, and rotating ones."""
GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class WeightSample:
    """Values of every tensor of a version: the same columns of all matrices of one width, and whole vectors."""

    columns: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    """Columns by the width of the matrix; the first ``FIXED`` are the same at every version."""
    values: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    """Values by the name in the checkpoint: [N, C] for a matrix, [N] for a vector."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence in addition to the probe's scores."""

    sample: WeightSample = field(default_factory=WeightSample)
    before: tuple[int, WeightSample, list[list[float]]] | None = None
    """The previous version, its fixed columns and its scores of the same text. Used to recognise a stale engine."""
    rounding: float = 0.0
    """See ``Floor.rounding``."""


def columns_of(width: int, version: int) -> NDArray[np.int64]:
    """Columns of a matrix that are read back at a version: one in each strip, so that no half is missed."""
    fixed = _strips(width, FIXED, 0)
    return np.array([*fixed, *(c for c in _strips(width, ROTATING, version + 1) if c not in fixed)], np.int64)


def _strips(width: int, count: int, turn: int) -> list[int]:
    if width <= count:
        return list(range(width))
    return [int((strip + (turn + strip * GOLDEN + turn * GOLDEN) % 1.0) * width / count) for strip in range(count)]


class Witness:
    """The learner's memory from one version to the next. One per run, on rank 0."""

    def __init__(self) -> None:
        self._before: tuple[int, WeightSample, list[list[float]], list[list[int]]] | None = None

    def testify(
        self,
        version: int,
        sample: WeightSample,
        sequences: list[list[int]],
        scores: list[list[float]],
        others: list[list[float]] | None,
    ) -> Evidence:
        """Evidence of a version.

        Args:
            version: the version.
            sample: values of what is published.
            sequences: the probe's text.
            scores: the learner's log-probabilities of it, in the engine's formats.
            others: the same with other roundings; None if nothing is rounded to 16 bits or fewer.
        """
        rounding = 0.0 if others is None else trimmed_mean(np.abs(flat(scores) - flat(others)))
        before = self._before
        self._before = (version, fixed_part(sample), scores, sequences)
        known = before is not None and before[0] != version and before[3] == sequences
        return Evidence(sample, before[:3] if before is not None and known else None, rounding)


class Sampler:
    """Samples the tensors of a version as they pass by, in the numbers that an engine should hold."""

    def __init__(self, version: int, fp8: Scales | None = None) -> None:
        """``fp8``: scales of the matrices that an engine holds in FP8."""
        self.sample = WeightSample()
        self._version, self._fp8 = version, fp8

    def following(self, layers: Iterator[Mapping[str, Tensor]]) -> Iterator[Mapping[str, Tensor]]:
        """The same layers, each sampled before it is yielded."""
        for layer in layers:
            for name, tensor in layer.items():
                self.take(name, tensor)
            yield layer

    def take(self, name: str, tensor: Tensor) -> None:
        """Sample a matrix, each expert's part of a joint tensor, or a vector. The scored text covers the others."""
        held = tensor if self._fp8 is None else rounded_weight(name, tensor, self._fp8)
        for part, values in matrices(name, held):
            if values.ndim == 2:
                width = int(values.shape[1])
                columns = self.sample.columns.setdefault(width, columns_of(width, self._version))
                values = values[:, torch.from_numpy(columns)]
            self.sample.values[part] = _as_float32(values)


def fixed_part(sample: WeightSample) -> WeightSample:
    """The columns that are the same at every version."""
    kept = {
        name: value if value.ndim == 1 else np.ascontiguousarray(value[:, :FIXED])
        for name, value in sample.values.items()
    }
    return WeightSample({width: places[:FIXED] for width, places in sample.columns.items()}, kept)


def flat(scores: list[list[float]]) -> NDArray[np.float64]:
    """Scores of all tokens in one row."""
    return np.concatenate([np.asarray(one, dtype=np.float64) for one in scores]) if scores else np.zeros(0)


def trimmed_mean(values: NDArray[np.float64]) -> float:
    """Mean without the largest of each fifty: one token routed to another expert must not decide it."""
    kept = np.sort(values)[: len(values) - len(values) // 50]
    return float(kept.mean()) if len(kept) else 0.0


def _as_float32(values: Tensor) -> NDArray[np.float32]:
    return np.array(values.detach().float().cpu().numpy())
