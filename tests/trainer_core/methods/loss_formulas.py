"""The losses as the papers write them, one token of one sequence after another, on 0-dim float64 tensors.

``sg`` turns a tensor into a number: no gradient runs through it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from trainer_core.spec.methods.loss import Loss


@dataclass
class Row:
    """The counted tokens of one sequence."""

    now: list[Tensor]
    """log π_θ, with gradient."""
    old: list[float]
    behaviour: list[float]
    advantages: list[float]


def sg(value: Tensor) -> float:
    return value.item()


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def surrogate(ratio: Tensor, advantage: float, low: float, high: float) -> Tensor:
    """−min(ρA, clip(ρ)A): the clipped branch is a constant."""
    clipped = clip(sg(ratio), low, high) * advantage
    return -ratio * advantage if sg(ratio) * advantage <= clipped else torch.tensor(-clipped, dtype=torch.float64)


def ratios(row: Row, to: list[float]) -> list[Tensor]:
    return [torch.exp(now - other) for now, other in zip(row.now, to, strict=True)]


def ppo_clip(spec: Any, row: Row) -> list[Tensor]:
    losses = []
    for ratio, a in zip(ratios(row, row.old), row.advantages, strict=True):
        loss = surrogate(ratio, a, spec.ratio_min, spec.ratio_max)
        if spec.ratio_dual is not None and a < 0 and sg(loss) > spec.ratio_dual * -a:
            loss = torch.tensor(spec.ratio_dual * -a, dtype=torch.float64)
        losses.append(loss)
    return losses


def reinforce(spec: Any, row: Row) -> list[Tensor]:
    return [-a * now for now, a in zip(row.now, row.advantages, strict=True)]


def cispo(spec: Any, row: Row) -> list[Tensor]:
    weights = [clip(sg(ratio), spec.ratio_min, spec.ratio_max) for ratio in ratios(row, row.old)]
    return [-w * a * now for w, a, now in zip(weights, row.advantages, row.now, strict=True)]


def gspo(spec: Any, row: Row) -> list[Tensor]:
    mean = torch.stack([now - old for now, old in zip(row.now, row.old, strict=True)]).mean()
    values = [torch.exp(mean)] * len(row.now)
    if spec.level == "token":
        values = [sg(torch.exp(mean)) * torch.exp(now) / sg(torch.exp(now)) for now in row.now]
    return [surrogate(s, a, spec.ratio_min, spec.ratio_max) for s, a in zip(values, row.advantages, strict=True)]


def sapo(spec: Any, row: Row) -> list[Tensor]:
    losses = []
    for ratio, a in zip(ratios(row, row.old), row.advantages, strict=True):
        tau = spec.temperature_positive if a > 0 else spec.temperature_negative
        losses.append(-4 / tau / (1 + torch.exp(-tau * (ratio - 1))) * a)
    return losses


def dppo(spec: Any, row: Row) -> list[Tensor]:
    losses = []
    for now, then, a in zip(row.now, row.behaviour, row.advantages, strict=True):
        p, q = math.exp(sg(now)), math.exp(then)
        divergence = abs(p - q)
        if spec.divergence == "kl":
            divergence = q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))
        leaves = (a > 0 and p > q) or (a < 0 and p < q)
        weight = 0.0 if leaves and divergence > spec.divergence_max else min(p / q, spec.ratio_max)
        losses.append(-weight * a * now)
    return losses


def decoupled_ppo(spec: Any, row: Row) -> list[Tensor]:
    losses = []
    for ratio, old, then, a in zip(ratios(row, row.old), row.old, row.behaviour, row.advantages, strict=True):
        weight = math.exp(old - then)
        losses.append(
            (weight if weight <= spec.weight_max else 0.0) * surrogate(ratio, a, spec.ratio_min, spec.ratio_max)
        )
    return losses


def minpro(spec: Any, row: Row) -> list[Tensor]:
    values = [sg(ratio) for ratio in ratios(row, row.behaviour)]
    prefix = [min(values[:t], default=1.0) for t in range(len(values))]
    weights = [clip(value * least, spec.ratio_min, spec.ratio_max) for value, least in zip(values, prefix, strict=True)]
    return [-w * a * now for w, a, now in zip(weights, row.advantages, row.now, strict=True)]


def vespo(spec: Any, row: Row) -> list[Tensor]:
    whole = math.prod(sg(ratio) for ratio in ratios(row, row.behaviour))
    losses = []
    for now, a in zip(row.now, row.advantages, strict=True):
        k, rate = (spec.power_positive, spec.rate_positive) if a >= 0 else (spec.power_negative, spec.rate_negative)
        losses.append(-(whole**k) * math.exp(rate * (1 - whole)) * a * now)
    return losses


def sequence_mask(spec: Any, row: Row) -> list[Tensor]:
    values = ratios(row, row.behaviour)
    numbers = [sg(value) for value in values]
    kept = all(spec.ratio_min <= number <= spec.ratio_max for number in numbers)
    if spec.divergence_max is not None:
        kept = kept and sum(n - 1 - math.log(n) for n in numbers) / len(numbers) <= spec.divergence_max
    return [-value * a * kept for value, a in zip(values, row.advantages, strict=True)]


def kl_penalised(spec: Any, row: Row) -> list[Tensor]:
    return [
        -ratio * a + spec.coefficient * (ratio - 1 - torch.log(ratio))
        for ratio, a in zip(ratios(row, row.old), row.advantages, strict=True)
    ]


FORMULAS: dict[str, Callable[[Any, Row], list[Tensor]]] = {
    formula.__name__: formula
    for formula in (
        ppo_clip,
        reinforce,
        cispo,
        gspo,
        sapo,
        dppo,
        decoupled_ppo,
        minpro,
        vespo,
        sequence_mask,
        kl_penalised,
    )
}


def written_out(
    spec: Loss, now: Tensor, old: Tensor, behaviour: Tensor, advantages: Tensor, mask: Tensor, sequence: Tensor
) -> list[tuple[int, Tensor]]:
    """Position and loss of every counted token of a ragged batch."""
    result: list[tuple[int, Tensor]] = []
    for index in sequence.unique().tolist():
        where = [t for t in range(len(now)) if sequence[t] == index and mask[t]]

        def numbers(values: Tensor, where: Sequence[int] = where) -> list[float]:
            return [values[t].item() for t in where]

        row = Row([now[t] for t in where], numbers(old), numbers(behaviour), numbers(advantages))
        if where:
            result += zip(where, FORMULAS[spec.type](spec, row), strict=True)
    return result
