"""Prediction of pass rates that were never measured, from those of similar prompts (DOTS, arXiv 2506.05316)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.steering.curriculum.text_vectors import TextVectors

REFERENCE = 256
"""Number of most recently tried prompts that predictions are based on."""
FEWEST = 16
"""Prompts that must have been tried before anything is predicted."""
TEMPERATURES = (0.02, 0.05, 0.1, 0.2, 0.5)
"""Temperatures of the softmax over similarities. The one that predicts the reference's own prompts best is used."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Skill of the reference at predicting its own prompts, and the parameters that predict best."""

    temperature: float
    slope: float
    """w: how far a prediction moves from the mean towards similar prompts; 0 if they carry no information."""
    mean: float
    r2: float
    """1 − Σ (p − p̂)² / Σ (p − p̄)², each prompt of the reference predicted from the others. Never below 0, since the
    mean is then predicted."""


class PassRatePredictor:
    """Predicts pass rates of the prompts of one source by attention over the most recently tried ones.

    ``p̂ = p̄ + w · (Σ softmax(z · z_i / h) p_i − p̄)``. DOTS trains an adapter over a frozen model's embeddings, and a
    calibration network. Here z are hashed n-grams of the prompts, centred on the reference; h and w are the values that
    best predict each prompt of the reference from the others.
    """

    def __init__(self, text: Callable[[int], str]) -> None:
        """``text`` returns the prompt of a row."""
        self._vectors = TextVectors(text)
        self._reference: dict[int, float] = {}
        self._fit: Fit | None = None

    def observe(self, row: int, rate: float) -> None:
        """Record the running pass rate of a tried row."""
        self._reference.pop(row, None)
        self._reference[row] = rate
        if len(self._reference) > REFERENCE:
            del self._reference[next(iter(self._reference))]
        self._fit = None

    def predict(self, rows: list[int]) -> NDArray[np.float64] | None:
        """Predicted pass rates of rows, shape [rows]; None before ``FEWEST`` prompts have been tried."""
        fit = self.fit()
        if fit is None:
            return None
        if fit.slope == 0.0 or not rows:
            return np.full(len(rows), fit.mean)
        near = _weights(self._similarities(rows), fit.temperature)
        return np.clip(fit.mean + fit.slope * (near @ self._rates() - fit.mean), 0.0, 1.0)

    def fit(self) -> Fit | None:
        """Skill of the reference at predicting itself; None before ``FEWEST`` prompts have been tried."""
        if self._fit is None and len(self._reference) >= FEWEST:
            self._fit = _fitted(self._similarities(list(self._reference)), self._rates())
        return self._fit

    def state(self) -> list[list[Any]]:
        """State for the checkpoint."""
        return [[row, rate] for row, rate in self._reference.items()]

    def load(self, state: list[list[Any]]) -> None:
        """Restore from a checkpoint."""
        self._reference, self._fit = {int(row): float(rate) for row, rate in state}, None

    def _rates(self) -> NDArray[np.float64]:
        return np.array(list(self._reference.values()))

    def _similarities(self, rows: list[int]) -> NDArray[np.float64]:
        """Cosine similarities of rows with the reference, centred on its mean; shape [rows, reference]."""
        known = self._vectors.of(list(self._reference)).astype(np.float64)
        centre = known.mean(0)
        found: NDArray[np.float64] = _unit(self._vectors.of(rows) - centre) @ _unit(known - centre).T
        return found


def _fitted(similarities: NDArray[np.float64], rates: NDArray[np.float64]) -> Fit:
    mean = float(rates.mean())
    spread = float(((rates - mean) ** 2).sum())
    others = similarities.copy()
    np.fill_diagonal(others, -np.inf)
    best = Fit(TEMPERATURES[-1], 0.0, mean, 0.0)
    for temperature in TEMPERATURES if spread > 1e-12 else ():
        told = _weights(others, temperature) @ rates - mean
        square = float((told**2).sum())
        slope = min(max(float((told * (rates - mean)).sum()) / square, 0.0), 1.0) if square > 1e-12 else 0.0
        r2 = 1.0 - float(((rates - mean - slope * told) ** 2).sum()) / spread
        if r2 > best.r2:
            best = Fit(temperature, slope, mean, r2)
    return best


def _weights(similarities: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    powers = np.exp((similarities - similarities.max(1, keepdims=True)) / temperature)
    weights: NDArray[np.float64] = powers / powers.sum(1, keepdims=True)
    return weights


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: NDArray[np.float64] = vectors / np.where(lengths > 1e-12, lengths, 1.0)
    return found
