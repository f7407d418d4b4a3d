"""Sizes of well-known models, from their published configurations: to plan with before anything is downloaded."""

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
        experts_per_token=1,
        shared_intermediate=0,
        dense_layers=0,
        dense_intermediate=intermediate,
        norms=2,
        lean_norms=True,
        normalises_heads=normalises_heads,
        cuts_kernels=False,
        clamps_gates=False,
        parameters=layers * layer + hidden + vocabulary * hidden * (1 if tied else 2),
        matrices={name: (shape,) * layers for name, shape in shapes.items()},
    )


_QWEN3_8B = decoder(
    layers=36,
    hidden=4096,
    heads=32,
    kv_heads=8,
    intermediate=12_288,
    vocabulary=151_936,
    tied=False,
    normalises_heads=True,
)
MODELS = {
    "Qwen/Qwen3-0.6B": decoder(
        layers=28,
        hidden=1024,
        heads=16,
        kv_heads=8,
        intermediate=3072,
        vocabulary=151_936,
        tied=True,
        normalises_heads=True,
    ),
    "Qwen/Qwen3-1.7B": decoder(
        layers=28,
        hidden=2048,
        heads=16,
        kv_heads=8,
        intermediate=6144,
        vocabulary=151_936,
        tied=True,
        normalises_heads=True,
    ),
    "Qwen/Qwen3-8B": _QWEN3_8B,
    "Qwen/Qwen3-8B-Base": _QWEN3_8B,
    "meta-llama/Llama-3.1-8B-Instruct": decoder(
        layers=32,
        hidden=4096,
        heads=32,
        kv_heads=8,
        intermediate=14_336,
        vocabulary=128_256,
        tied=False,
        normalises_heads=False,
    ),
    "allenai/Olmo-3-7B-Think-DPO": decoder(
        layers=32,
        hidden=4096,
        heads=32,
        kv_heads=32,
        intermediate=11_008,
        vocabulary=100_278,
        tied=False,
        normalises_heads=True,
    ),
}
"""Sizes by the name on the Hugging Face hub."""
