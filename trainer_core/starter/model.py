"""The starter policy's network: Qwen3 architecture, about 0.6 million parameters."""

import torch
from transformers import GenerationConfig, PreTrainedTokenizerBase, Qwen3Config, Qwen3ForCausalLM

MAX_POSITIONS = 2048


def build_model(tokenizer: PreTrainedTokenizerBase, seed: int) -> Qwen3ForCausalLM:
    """A freshly initialised policy in float32 whose special token ids are those of ``tokenizer``.

    The head size of 32 is the smallest that vLLM's CPU attention accepts.

    Args:
        tokenizer: gives the vocabulary size and the ids of padding and end of sequence.
        seed: the same seed gives the same weights; the global random state is not changed.
    """
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=MAX_POSITIONS,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
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
        model = Qwen3ForCausalLM(config)
    model.generation_config = generation_config(tokenizer)
    return model


def generation_config(tokenizer: PreTrainedTokenizerBase) -> GenerationConfig:
    """The sampling used in training: untruncated, at temperature 1."""
    return GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
