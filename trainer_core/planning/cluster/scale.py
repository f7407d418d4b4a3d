"""Sizes of a policy that its speed depends on."""

from dataclasses import dataclass
from pathlib import Path

from trainer_core.planning.active import active_parameters, count_experts
from trainer_core.planning.policy_size import PolicySize, tensor_shapes


@dataclass(frozen=True, slots=True)
class Scale:
    """Counts of a policy's weights and of its state per token."""

    parameters: float
    active: float
    """Active parameters per token."""
    layers: int
    hidden: int
    cached_numbers: int
    """Numbers per token in an engine's cache."""
    queries: int
    """Numbers in a token's queries over all layers, which attention multiplies with the keys of every earlier token."""
    width: int
    """Narrower side of the large matrices: in the feed-forward part of a dense layer, or in one expert."""
    experts: int = 1
    """Experts of a layer; 1 for a dense policy."""
    experts_per_token: int = 1

    @classmethod
    def of(cls, folder: Path) -> "Scale":
        """Reads the scale of the policy in ``folder``; raises ``UnknownSize`` or ``OSError`` like ``PolicySize.of``."""
        size = PolicySize.of(folder)
        return cls.from_size(size, active_parameters(folder), max(1, count_experts(tensor_shapes(folder))))

    @classmethod
    def from_size(cls, size: PolicySize, active: float | None = None, experts: int = 1) -> "Scale":
        """The scale of a policy of known size; without ``active``, of a dense one."""
        return cls(
            parameters=size.parameters,
            active=active or size.parameters,
            layers=size.layers,
            hidden=size.hidden,
            cached_numbers=size.cached_numbers(on_cpu=False),
            queries=size.layers * size.heads * (size.head_dim + size.value_dim) // 2,
            width=min(size.hidden, size.intermediate),
            experts=experts,
            experts_per_token=size.experts_per_token,
        )

    @property
    def routed(self) -> float:
        """Parameters of the routed experts."""
        if self.experts <= self.experts_per_token:
            return 0.0
        return (self.parameters - self.active) / (1 - self.experts_per_token / self.experts)

    def working(self, context: float) -> float:
        """Number of parameters with the same arithmetic per token as the active ones plus attention to ``context``
        earlier tokens: scores and weighted values, two operations per number each."""
        return self.active + 2 * self.queries * context

    def read_parameters(self, running: float) -> float:
        """Parameters that one step of ``running`` sequences reads, including every expert that any of them is routed
        to, if all experts are equally likely."""
        share = self.experts_per_token / self.experts
        return self.parameters - self.routed * (1 - share) ** running


SCALES = {
    #                       parameters    active layers hidden    cached      queries  width experts, of them
    "Qwen3-0.6B":      Scale(  0.596e9,  0.596e9,  28,  1024, 28 * 8 * 256,   28 * 2048,  1024),
    "Qwen3-4B":        Scale(   4.02e9,   4.02e9,  36,  2560, 36 * 8 * 256,   36 * 4096,  2560),
    "Qwen2.5-1.5B":    Scale(   1.54e9,   1.54e9,  28,  1536, 28 * 2 * 256,   28 * 1536,  1536),
    "Qwen2.5-7B":      Scale(   7.62e9,   7.62e9,  28,  3584, 28 * 4 * 256,   28 * 3584,  3584),
    "Qwen2.5-32B":     Scale(  32.76e9,  32.76e9,  64,  5120, 64 * 8 * 256,   64 * 5120,  5120),
    "Qwen2.5-72B":     Scale(  72.71e9,  72.71e9,  80,  8192, 80 * 8 * 256,   80 * 8192,  8192),
    "Llama-3.1-8B":    Scale(   8.03e9,   8.03e9,  32,  4096, 32 * 8 * 256,   32 * 4096,  4096),
    "Llama-3.1-405B":  Scale(  405.9e9,  405.9e9, 126, 16384, 126 * 8 * 256, 126 * 16384, 16384),
    "Qwen3-32B":       Scale(  32.76e9,  32.76e9,  64,  5120, 64 * 8 * 256,   64 * 8192,  5120),
    "Qwen3-30B-A3B":   Scale(  30.53e9,   3.35e9,  48,  2048, 48 * 4 * 256,   48 * 4096,   768, 128, 8),
    "Qwen3-235B-A22B": Scale(  235.1e9,   22.2e9,  94,  4096, 94 * 4 * 256,   94 * 8192,  1536, 128, 8),
    "GLM-4.5-Air":     Scale(  106.9e9,   12.0e9,  46,  4096, 46 * 8 * 256,  46 * 12288,  1408, 128, 8),
    "DeepSeek-V3":     Scale(  671.0e9,   37.6e9,  61,  7168,     61 * 576,  61 * 20480,  2048, 256, 8),
    "Kimi-K2":         Scale(  1_026e9,   32.6e9,  61,  7168,     61 * 576,  61 * 10240,  2048, 384, 8),
}  # fmt: skip
"""Published configurations."""
