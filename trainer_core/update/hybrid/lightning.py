"""Lightning attention of transformers' MiniMax classes on packed tokens, by our kernel.

The layer keeps its weights and its decay; only its forward pass is replaced. The one in transformers expects one
sequence per row, and would carry the state of one packed sequence into the next.
"""

from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from kernels.lightning_attention import lightning_attention
from trainer_core.update.packed.attention import UnsupportedPolicy
from trainer_core.update.packed.runs import Runs
from trainer_core.update.packed.segments import Layout

LAYER = "MiniMaxLightningAttention"
CONSTANTS = ("slope_rate", "query_decay", "key_decay", "diagonal_decay")
"""Buffers of the layer that follow from its configuration. They are not weights, though files may hold them."""


def use_packed_lightning(model: nn.Module) -> int:
    """Replace the forward pass of every lightning attention layer; returns how many there are."""
    layers = [module for module in model.modules() if type(module).__name__ == LAYER]
    for layer in layers:
        layer.forward = MethodType(_forward, layer)
    return len(layers)


def is_constant(name: str) -> bool:
    """Whether a tensor of this name is one of a lightning layer's constants."""
    return name.rpartition(".")[2] in CONSTANTS


def _forward(
    self: Any, hidden_states: Tensor, *_: Any, layout: Layout | None = None, **others: Any
) -> tuple[Tensor, None]:
    """Output [1, N, hidden] of N packed tokens [1, N, hidden], and None in place of the state.

    Raises:
        UnsupportedPolicy: there is no layout, its prefixes are not separate runs, or several ranks split its tokens.
    """
    if others.get("context_group") is not None:
        raise UnsupportedPolicy(
            "lightning attention passes a state from token to token, which context-parallel ranks do not exchange: set"
            " parallelism.context_parallel_size to 1"
        )
    if layout is None or layout.runs is None:
        raise UnsupportedPolicy("lightning attention needs packed sequences that start new or continue a prompt")
    states = hidden_states[0]
    heads = self.num_attention_heads
    mixed = self.act_fn(self.qkv_proj(states)).view(len(states), heads, 3 * self.head_dim)
    query, key, value = mixed.split(self.head_dim, dim=-1)
    found = scan_runs(query, key, value, self.slope_rate.view(heads), layout.runs)
    gated = torch.sigmoid(self.output_gate(states)) * self.norm(found.reshape(len(states), -1))
    return self.out_proj(gated).unsqueeze(0), None


def scan_runs(query: Tensor, key: Tensor, value: Tensor, slopes: Tensor, runs: Runs) -> Tensor:
    """Lightning attention [N, H, E] within each run and the run that it continues.

    Args:
        query: [N, H, D], in packed order.
        key: [N, H, D].
        value: [N, H, E].
        slopes: decay of each head per token, [H].
        runs: the runs of the micro-batch.
    """
    first, *later = runs.levels
    if not later:
        # Only runs that start from nothing: they are already in packed order, so nothing has to move.
        return lightning_attention(query.contiguous(), key.contiguous(), value.contiguous(), slopes, first.starts)[0]
    q, k, v = (part.index_select(0, runs.order) for part in (query, key, value))
    done = int(first.starts[-1])
    out, states = lightning_attention(q[:done], k[:done], v[:done], slopes, first.starts)
    found = [out]
    for level in later:
        own = slice(done, done + int(level.starts[-1]))
        states = states.index_select(0, level.parents)
        out, states = lightning_attention(q[own], k[own], v[own], slopes, level.starts, states)
        found.append(out)
        done = own.stop
    return torch.cat(found).index_select(0, runs.places)
