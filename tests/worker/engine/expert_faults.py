"""Faults planted in the experts of one layer, between the learner's weights and the engine's kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from worker.engine import InferenceEngine
from worker.learner.probe.evidence import Evidence, Sampler, fixed_part
from worker.learner.probe.readback import TensorFault, compare

Tensors = dict[str, Tensor]
LAYER = ".layers.1."
FIRST, SECOND = 0, 1
"""Experts that faults are planted in: the second, or the two exchanged."""


@dataclass(frozen=True)
class ExpertFault:
    """Something that goes wrong with the tensors of an expert."""

    name: str
    change: Callable[[Tensors, Tensors], Tensors]
    """(version before, new version) → what the engine is made to hold."""


def parts_of(tensors: Mapping[str, Tensor], expert: int) -> Tensors:
    """An expert's own tensors by the names that the probe has for them; biases of joint experts by the whole's."""
    parts: Tensors = {}
    for name, tensor in tensors.items():
        if LAYER not in name:
            continue
        if f".experts.{expert}." in name:
            parts[name] = tensor
        elif ".experts." in name and not name.split(".experts.")[1][0].isdigit():  # of all experts together
            parts[f"{name}[{expert}]" if tensor.ndim == 3 else name] = tensor[expert]
    return parts


def holding(tensors: Mapping[str, Tensor], expert: int, parts: Mapping[str, Tensor]) -> Tensors:
    """The tensors with other ones of an expert."""
    held = dict(tensors)
    for name, part in parts.items():
        whole = name.removesuffix(f"[{expert}]")
        if held[whole].shape != part.shape:
            held[whole] = held[whole].clone()
            held[whole][expert] = part
        else:
            held[whole] = part
    return held


def faults() -> list[ExpertFault]:
    """The faults of an expert: of its tensors all, or of one matrix."""
    return [
        ExpertFault("an expert of the last version", lambda old, new: holding(new, SECOND, parts_of(old, SECOND))),
        ExpertFault("two experts swapped", _swapped),
        ExpertFault("an expert half written", _one(_half)),
        ExpertFault("an expert's float16 read as bfloat16", _one(_misread)),
        ExpertFault("an expert scaled by 1 %", _one(lambda _, new: new * 1.01)),
    ]


def found_by_reading(
    engine: InferenceEngine, old: Tensors, new: Tensors, held: Tensors, version: int
) -> list[TensorFault]:
    """Tensors that the probe finds not as published where the engine is given ``held`` as version ``version``."""
    before, sampler = Sampler(version - 1), Sampler(version)
    for name in new:
        before.take(name, old[name])
        sampler.take(name, new[name])
    engine.load_weights(version, held)
    evidence = Evidence(sampler.sample, (version - 1, fixed_part(before.sample), []))
    return compare(engine.read_weights(evidence.sample.columns), evidence)


def _swapped(_: Tensors, new: Tensors) -> Tensors:
    first, second = parts_of(new, FIRST), parts_of(new, SECOND)
    held = holding(new, FIRST, dict(zip(first, second.values(), strict=True)))
    return holding(held, SECOND, dict(zip(second, first.values(), strict=True)))


def _one(change: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensors, Tensors], Tensors]:
    def planted(old: Tensors, new: Tensors) -> Tensors:
        name = one_matrix(new)
        return holding(new, SECOND, {name: change(parts_of(old, SECOND)[name], parts_of(new, SECOND)[name])})

    return planted


def one_matrix(tensors: Mapping[str, Tensor]) -> str:
    """Name of the matrix that faults of one matrix are planted in."""
    return next(name for name, part in parts_of(tensors, SECOND).items() if part.ndim == 2)


def _half(old: Tensor, new: Tensor) -> Tensor:
    rows = len(new) // 2
    return torch.cat([new[:rows], old[rows:]])


def _misread(_: Tensor, new: Tensor) -> Tensor:
    return new.half().view(torch.bfloat16).float().nan_to_num().to(new.dtype)
