"""The hybrid starter policy's network: MiniMax-M1's architecture with about 2.2 million parameters.

One layer of softmax attention follows every seven layers of lightning attention. A mixture of experts follows each
layer of attention, with two experts per token.
"""

import torch
from transformers import MiniMaxConfig, MiniMaxForCausalLM, PreTrainedTokenizerBase

from trainer_core.starter.model import MAX_POSITIONS, generation_config

LIGHTNING = 7
"""Layers of lightning attention before each layer of softmax attention: MiniMax-M1 (arXiv 2506.13585), §2."""
LAYERS = LIGHTNING + 1
ALPHA = (2 * LAYERS) ** 0.25
"""Weight of the normalised input that is added to each output: DeepNorm (arXiv 2203.00555), as in MiniMax-01."""


def build_hybrid(tokenizer: PreTrainedTokenizerBase, seed: int) -> MiniMaxForCausalLM:
    """A freshly initialised policy in float32 whose special token ids are those of ``tokenizer``.

    Args:
        tokenizer: gives the vocabulary size and the ids of padding and end of sequence.
        seed: the same seed gives the same weights; the global random state is not changed.
    """
    config = MiniMaxConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=128,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        num_local_experts=4,
        num_experts_per_tok=2,
        layer_types=["linear_attention"] * LIGHTNING + ["full_attention"],
        block_size=64,
        full_attn_alpha_factor=ALPHA,
        linear_attn_alpha_factor=ALPHA,
        mlp_alpha_factor=ALPHA,
        max_position_embeddings=MAX_POSITIONS,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
        attention_dropout=0.0,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.06,
        dtype="float32",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MiniMaxForCausalLM(config)
    model.generation_config = generation_config(tokenizer)
    return model
