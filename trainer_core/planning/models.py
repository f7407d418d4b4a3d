"""Sizes of well-known models, from their published configurations: for planning before anything is downloaded."""

from typing import NamedTuple

from trainer_core.planning.policy_size import PolicySize


def decoder(
    *,
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    intermediate: int,
    vocabulary: int,
    tied: bool,
    normalises_heads: bool,
    head_dim: int = 128,
) -> PolicySize:
    """The size of a dense decoder with gated feed-forward layers and without biases."""
    queries, shared = heads * head_dim, kv_heads * head_dim
    shapes = {
        "q_proj": (queries, hidden),
        "k_proj": (shared, hidden),
        "v_proj": (shared, hidden),
        "o_proj": (hidden, queries),
        "gate_proj": (intermediate, hidden),
        "up_proj": (intermediate, hidden),
        "down_proj": (hidden, intermediate),
    }
    norms = 2 * hidden + (2 * head_dim if normalises_heads else 0)
    layer = sum(rows * columns for rows, columns in shapes.values()) + norms
    return PolicySize(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        value_dim=head_dim,
        latent=None,
        intermediate=intermediate,
        vocabulary=vocabulary,
        experts=0,
        experts_per_token=1,
        shared_intermediate=0,
        dense_layers=0,
        dense_intermediate=intermediate,
        norms=2,
        lean_norms=True,
        normalises_heads=normalises_heads,
        cuts_kernels=False,
        clamps_gates=False,
        window=None,
        parameters=layers * layer + hidden + vocabulary * hidden * (1 if tied else 2),
        largest=max(vocabulary * hidden, intermediate * hidden),
        matrices={name: (shape,) * layers for name, shape in shapes.items()},
    )


class _Shape(NamedTuple):
    """The arguments of ``decoder`` that differ between well-known models."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    intermediate: int
    vocabulary: int
    tied: bool
    normalises_heads: bool


_SHAPES = {
    #                                            layers hidden heads kv_heads intermediate vocabulary   tied  normalises
    "Qwen/Qwen3-0.6B":                    _Shape(   28,  1024,   16,        8,       3072,   151_936,  True,  True),
    "Qwen/Qwen3-1.7B":                    _Shape(   28,  2048,   16,        8,       6144,   151_936,  True,  True),
    "Qwen/Qwen3-8B":                      _Shape(   36,  4096,   32,        8,     12_288,   151_936, False,  True),
    "Qwen/Qwen3-8B-Base":                 _Shape(   36,  4096,   32,        8,     12_288,   151_936, False,  True),
    "meta-llama/Llama-3.1-8B-Instruct":   _Shape(   32,  4096,   32,        8,     14_336,   128_256, False, False),
    "allenai/Olmo-3-7B-Think-DPO":        _Shape(   32,  4096,   32,       32,     11_008,   100_278, False,  True),
}  # fmt: skip
MODELS = {name: decoder(**shape._asdict()) for name, shape in _SHAPES.items()}
"""Sizes by the name on the Hugging Face hub."""
