"""A mixture of experts in plain torch: the learner's router, and two matrix products for all experts.

vLLM's fused experts need kernels that a CPU may lack, and do not report their routes on CPUs. Computing every expert
costs E/K times the arithmetic of the chosen ones. For a small policy this is cheaper than sorting tokens by expert.
"""

from __future__ import annotations

import torch
from torch import nn
from transformers import MiniMaxConfig

FEW = 1 << 24
"""Largest number of hidden activations for which all experts are computed together."""


class Experts(nn.Module):
    """The experts of one layer. ``chosen`` [N, K] holds the experts of the last step's tokens."""

    def __init__(self, config: MiniMaxConfig) -> None:
        super().__init__()
        experts, width, inner = config.num_local_experts, config.hidden_size, config.intermediate_size
        self.top_k = config.num_experts_per_tok
        self.gate = nn.Parameter(torch.empty(experts, width), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(experts, dtype=torch.float32), requires_grad=False)
        self.gate_up = nn.Parameter(torch.empty(experts, 2 * inner, width), requires_grad=False)
        self.down = nn.Parameter(torch.empty(experts, inner, width), requires_grad=False)
        self.chosen: torch.Tensor | None = None

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Output [N, hidden]."""
        scores = torch.softmax(torch.nn.functional.linear(states, self.gate).float(), dim=-1)
        experts = (scores + self.bias).topk(self.top_k, dim=-1).indices
        weights = scores.gather(1, experts)
        weights = (weights / weights.sum(dim=-1, keepdim=True)).to(states.dtype)
        self.chosen = experts
        if len(states) * self.down.shape[0] * self.down.shape[1] <= FEW:
            return self._all(states, experts, weights)
        return self._sorted(states, experts, weights)

    def _all(self, states: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        count, inner, width = self.down.shape
        dense = torch.zeros(len(states), count, dtype=states.dtype, device=states.device).scatter_(1, experts, weights)
        both = torch.nn.functional.linear(states, self.gate_up.view(-1, width)).view(-1, count, 2 * inner)
        gate, up = both.chunk(2, dim=-1)
        hidden = torch.nn.functional.silu(gate) * up * dense.unsqueeze(-1)
        return hidden.view(-1, count * inner) @ self.down.view(count * inner, width)

    def _sorted(self, states: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(states)
        for expert in range(len(self.gate)):
            rows, slots = torch.where(experts == expert)
            gate, up = torch.nn.functional.linear(states[rows], self.gate_up[expert]).chunk(2, dim=-1)
            found = (torch.nn.functional.silu(gate) * up) @ self.down[expert]
            out.index_add_(0, rows, found * weights[rows, slots, None])
        return out

    @torch.no_grad()
    def load(self, name: str, tensor: torch.Tensor) -> None:
        """Load one tensor, given by its name under the layer's ``block_sparse_moe`` in the files.

        Raises:
            KeyError: there is no such tensor.
        """
        match name.split("."):
            case ["gate", "weight"]:
                self.gate.copy_(tensor)
            case ["gate", "e_score_correction_bias"]:
                self.bias.copy_(tensor)
            case ["experts", number, "w1", "weight"]:
                self.gate_up[int(number), : tensor.shape[0]].copy_(tensor)
            case ["experts", number, "w3", "weight"]:
                self.gate_up[int(number), tensor.shape[0] :].copy_(tensor)
            case ["experts", number, "w2", "weight"]:
                self.down[int(number)].copy_(tensor.t())
            case _:
                raise KeyError(name)
