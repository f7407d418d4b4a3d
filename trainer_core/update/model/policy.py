"""A Hugging Face causal language model, loaded for training on packed tokens."""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from trainer_core.update.formats.precision import Flows, use_precision
from trainer_core.update.hybrid.policy import mixing_types, prepare
from trainer_core.update.hybrid.router import replay_routes, router_weights, routers, watch_routers
from trainer_core.update.hybrid.routing import RouteWatch
from trainer_core.update.model.logprobs import token_logprobs
from trainer_core.update.model.norms import use_lean_norms
from trainer_core.update.model.output_layer import asking, can_fuse, find_fused, fuse, undo
from trainer_core.update.model.rotation import use_fused_rotation
from trainer_core.update.model.shards import WeightPlacement, WholeWeights
from trainer_core.update.packed import attention
from trainer_core.update.packed.attention import UnsupportedPolicy
from trainer_core.update.packed.packing import TokenBatch, pack
from trainer_core.update.packed.reused import both_turns
from trainer_core.update.recording import as_trajectory

ATTENTION_TYPES = {"full_attention", "sliding_attention"}
CHOOSE = "choose a policy of an architecture in docs/architectures.md"
NOISE = ("attention_dropout", "hidden_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop", "router_jitter_noise")


def load_policy(
    folder: str | Path,
    *,
    device: torch.device | str = "cpu",
    gradient_checkpointing: bool = False,
    keeps_attention: bool = False,
    flows: Flows | None = None,
    placement: WeightPlacement | None = None,
) -> PreTrainedModel:
    """Load the policy in float32 from a local folder: safetensors only, no code from the folder, dropout off.

    Dropout would make the log-probabilities of two passes over the same weights differ, and with them the ratios.

    Args:
        folder: the policy as Hugging Face stores it.
        device: its device.
        gradient_checkpointing: whether layers are recomputed for their backward pass.
        keeps_attention: whether these reuse the attention of the first computation, if it came from the kernel of
            ``packed/varlen.py``.
        flows: formats in which its layers compute; see ``use_precision``.
        placement: whether this rank holds the whole policy; by default it does.

    Raises:
        UnsupportedPolicy: the architecture mixes tokens by means other than attention, or has no attention interface.
        OSError: the folder does not exist or holds no safetensors weights.
    """
    path = str(folder)
    config = AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)  # nosec B615
    mixed = set(getattr(config, "layer_types", None) or ()) - ATTENTION_TYPES - mixing_types(config)
    if mixed:
        raise UnsupportedPolicy(f"layers of type {', '.join(sorted(mixed))} would mix packed sequences: {CHOOSE}")
    for name in NOISE:
        if getattr(config, name, None):
            setattr(config, name, 0.0)
    place = placement or WholeWeights()
    with place.reading():
        model = AutoModelForCausalLM.from_pretrained(  # nosec B615
            path,
            config=config,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32,
            attn_implementation=attention.register(),
        )
    if not getattr(model, "_supports_attention_backend", False):
        raise UnsupportedPolicy(f"{type(model).__name__} has no replaceable attention: {CHOOSE}")
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    with place.adapting(model, router_weights(model)):
        prepare(model, Path(path))
        if gradient_checkpointing:
            turns = {"context_fn": both_turns} if keeps_attention else {}
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False, **turns})
        model = model.to(device)
        use_lean_norms(model)
        use_fused_rotation(model)
        use_precision(model, flows)
        use_fused_output(model)
    return model


@torch.no_grad()
def use_fused_output(model: PreTrainedModel) -> bool:
    """Make the output layer return log-probabilities without logits, unless the policy does more to its logits.

    Capping and dividing by a constant are supported; a probe shows whether there is more.
    """
    layer = model.get_output_embeddings()
    if not can_fuse(layer):
        return False
    probe = replace(as_trajectory([0, 1, 0, 1]), temperature=0.5)
    batch = pack([probe], 64)[0].to(model.device)
    expected, _ = token_logprobs(logits(model, batch), batch.targets, batch.temperature)
    fuse(layer, model.config)
    found, _ = score(model, batch)
    if found.shape == expected.shape and torch.allclose(found, expected, rtol=1e-4, atol=1e-4):
        return True
    undo(layer)
    return False


def score(model: nn.Module, batch: TokenBatch, watch: RouteWatch | None = None) -> tuple[Tensor, Tensor]:
    """Log-probabilities (with gradient) and entropies of the batch's targets, float32 [M] each.

    Args:
        model: the policy, or the engine around it.
        batch: on the policy's device.
        watch: records the routing, which only a mixture of experts has.
    """
    layer = find_fused(model)
    targets, temperature = batch.own(batch.targets), batch.own(batch.temperature)
    if layer is None:
        found = torch.stack(token_logprobs(logits(model, batch, watch), targets, temperature), dim=-1)
    else:
        with asking(layer, targets, temperature):
            found = logits(model, batch, watch)
    logprobs, entropies = batch.whole(found).unbind(dim=-1)
    return logprobs, entropies.detach()


def logits(model: nn.Module, batch: TokenBatch, watch: RouteWatch | None = None) -> Tensor:
    """The logits that predict the batch's targets, [M, V]; if ranks split the tokens, this rank's, [m, V]."""
    adapted = bool(routers(model))
    watch_routers(model, watch is not None)
    # The model's own router output would also compute its balancing loss, which is not wanted here.
    asked = {} if watch is None or adapted else {"output_router_logits": True}
    replay_routes(model, batch.own_routes)
    output = model(**batch.inputs(), logits_to_keep=batch.own_rows, use_cache=False, **asked)
    if watch is not None and adapted:
        watch.take_adapted(model, batch.own_rows, batch.whole)
    elif watch is not None:
        watch.take(output.router_logits, batch.own_rows, batch.whole)
    found: Tensor = output.logits[0]
    return found
