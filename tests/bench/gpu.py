"""Kernels and learner on a GPU: beside its own matrix products, torch.compile, Liger-Kernel, flash-linear-attention.

The last two are compared where they are installed; they are no requirement of the project.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kernels.lightning_attention import bench as lightning_attention
from kernels.linear_logprob import bench as linear_logprob
from tests.bench import gpu_learner
from tests.bench.learner_step import Policy, groups_of, spec_of, write_policy
from tests.bench.report import Figure
from tests.support.cards import missing_card
from trainer_core.update.learner import Learner


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of what is measured."""

    tokens: int = 8192
    width: int = 4096
    vocabulary: int = 151_936
    long: int = 32_768
    heads: int = 32
    published: gpu_learner.Shape = field(default_factory=gpu_learner.Shape)
    policy: Policy = field(default_factory=lambda: Policy(hidden=2048, layers=8, heads=16, vocabulary=32_000))


def measure() -> list[Figure]:
    """Figures of this machine's GPU; none where there is none."""
    if (reason := missing_card()) is not None:
        print(f"\n{reason}.", flush=True)
        return []
    return figures(Sizes(), "cuda")


def figures(sizes: Sizes, device: str) -> list[Figure]:
    """Figures of one device."""
    return [
        *_linear_logprob(sizes, device),
        *_lightning(sizes, device),
        *_batch_invariant(sizes, device),
        *gpu_learner.figures(sizes.published, device),
    ]


def _linear_logprob(sizes: Sizes, device: str) -> Iterator[Figure]:
    tokens, width, vocabulary = sizes.tokens, sizes.width, sizes.vocabulary
    left, right = (
        torch.randn(rows, width, device=device, dtype=torch.bfloat16) for rows in (tokens, min(vocabulary, 16_384))
    )
    product = _seconds({"product": lambda: left @ right.T}, device)["product"]
    ceiling = 2 * tokens * width * len(right) / product
    cases = dict(linear_logprob.cases(tokens, width, vocabulary, device, torch.bfloat16))
    cases |= _compiled(cases["naive"]) | _liger(sizes, device)
    times = _seconds(cases, device)
    yield Figure("matrix products of this card", ceiling / 1e12, "TFLOP/s")
    # The logits twice (they are made again for the gradient), and the gradients of states and weights.
    share = 4 * 2 * tokens * width * vocabulary / times["fused"] / ceiling
    yield Figure("fused log-probability: share of them", share, "", "≥ 0.75")
    yield Figure("fused log-probability, forward and backward", times.pop("fused") * 1000, "ms")
    for name, seconds in times.items():
        yield Figure(f"the same: {name}", seconds * 1000, "ms")


def _compiled(function: Callable[[], None]) -> dict[str, Callable[[], None]]:
    return {"torch.compile": torch.compile(function)}


def _liger(sizes: Sizes, device: str) -> dict[str, Callable[[], None]]:
    if find_spec("liger_kernel") is None:
        return {}
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    states, weight = (
        torch.randn(rows, sizes.width, device=device, dtype=torch.bfloat16).requires_grad_()
        for rows in (sizes.tokens, sizes.vocabulary)
    )
    targets = torch.randint(0, sizes.vocabulary, (sizes.tokens,), device=device)
    loss = LigerFusedLinearCrossEntropyLoss()

    def run() -> None:
        states.grad = weight.grad = None
        loss(weight, states, targets).backward()

    return {"Liger-Kernel's cross-entropy": run}


def _lightning(sizes: Sizes, device: str) -> Iterator[Figure]:
    size = 128
    cases = dict(lightning_attention.cases(sizes.long, sizes.heads, size, device, torch.bfloat16))
    if find_spec("fla") is not None:
        from fla.ops.lightning_attn import chunk_lightning_attn

        parts: list[Tensor] = [
            torch.randn(1, sizes.long, sizes.heads, size, device=device, dtype=torch.bfloat16).requires_grad_()
            for _ in range(3)
        ]

        def theirs() -> None:
            out, _ = chunk_lightning_attn(*parts, layer_idx=1, num_layers=8)
            torch.autograd.grad(out.sum(), parts)

        cases["flash-linear-attention"] = theirs
    times = _seconds(cases, device)
    for name, seconds in times.items():
        yield Figure(f"attention over {sizes.long:,} tokens: {name}", seconds * 1000, "ms")
    if "flash-linear-attention" in times:
        yield Figure("speed over theirs", times["flash-linear-attention"] / times["lightning"], "", "≥ 1.2")


def _batch_invariant(sizes: Sizes, device: str) -> Iterator[Figure]:
    groups = groups_of(0, sizes.policy.vocabulary)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_policy(folder, sizes.policy)
        steps: dict[str, Callable[[], Any]] = {}
        for title, invariant in (("default", False), ("batch-invariant", True)):
            spec = spec_of({"batch_invariant": invariant}, precision={"type": "half", "dtype": "bfloat16"})
            learner = Learner(folder, spec, device=device)
            steps[title] = lambda learner=learner, spec=spec: learner.update(groups, spec, 1)
        times = _seconds(steps, device)
    yield Figure("learner's step in bfloat16", times["default"] * 1000, "ms")
    yield Figure("batch-invariant over default", times["batch-invariant"] / times["default"], "", "≤ 1.35")


def _seconds(cases: Mapping[str, Callable[[], Any]], device: str, rounds: int = 10) -> dict[str, float]:
    """Median time of each on the device's own clock, called in turns, after two rounds that warm it up."""
    events = torch.get_device_module(device).Event
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(rounds + 2):
        for name, function in cases.items():
            first, last = events(enable_timing=True), events(enable_timing=True)
            first.record()
            function()
            last.record()
            last.synchronize()
            if turn >= 2:
                taken[name].append(first.elapsed_time(last) / 1000)
    return {name: sorted(values)[rounds // 2] for name, values in taken.items()}
