"""A tiny MiniMax policy, and what transformers' own forward pass says about it."""

from pathlib import Path
from typing import Any

import torch
from transformers import MiniMaxConfig, MiniMaxForCausalLM

from tests.trainer_core.update.making import VOCABULARY
from trainer_core.episodes import Trajectory

EXPERTS, CHOSEN, LAYERS = 4, 2, 4


def make_hybrid(folder: Path, seed: int = 0) -> MiniMaxForCausalLM:
    """A MiniMax policy with random weights, lightning and softmax attention in turn, saved to ``folder``."""
    torch.manual_seed(seed)
    model = MiniMaxForCausalLM(
        MiniMaxConfig(
            vocab_size=VOCABULARY,
            hidden_size=64,
            intermediate_size=48,
            num_hidden_layers=LAYERS,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=32,
            max_position_embeddings=512,
            num_local_experts=EXPERTS,
            num_experts_per_tok=CHOSEN,
            layer_types=["linear_attention", "full_attention"] * (LAYERS // 2),
            block_size=16,
            initializer_range=0.2,
            router_jitter_noise=0.1,
            linear_attn_alpha_factor=1.1,
            mlp_beta_factor=0.9,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=1,
            pad_token_id=0,
        )
    ).eval()
    model.save_pretrained(folder)
    return model


def own_logprobs(model: Any, trajectory: Trajectory) -> torch.Tensor:
    """Log-probabilities of a trajectory's sampled tokens by transformers' forward pass over that sequence alone."""
    ids = torch.tensor([*trajectory.prompt_ids.tolist(), *trajectory.token_ids.tolist()])
    logits = model(ids[:-1].unsqueeze(0), use_cache=False).logits[0] / trajectory.temperature
    found = logits.log_softmax(-1).gather(1, ids[1:, None])[len(trajectory.prompt_ids) - 1 :, 0]
    return found[torch.from_numpy(trajectory.sampled)]
