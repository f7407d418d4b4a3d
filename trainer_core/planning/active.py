"""Active parameters per token, and numbers of experts, from the headers of a policy's files."""

from collections.abc import Mapping
from math import prod
from pathlib import Path

from trainer_core.planning.policy_size import PolicySize, UnknownSize, tensor_shapes


def active_parameters(folder: Path) -> int:
    """Active parameters per token: of the experts, only the share that it is routed to. 0 if it is not known.

    Tied embeddings count once, as the output layer's; an embedding with an untied head is only looked up, but counts
    too, as in published figures.
    """
    try:
        shapes, size = tensor_shapes(folder), PolicySize.of(folder)
    except (OSError, UnknownSize, ValueError):
        return 0
    routed = [prod(shape) for name, shape in shapes.items() if ".experts." in name]
    experts = max(1, count_experts(shapes))
    share = min(1.0, size.experts_per_token / experts)
    return round(sum(map(prod, shapes.values())) - sum(routed) * (1.0 - share))


def count_experts(shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Experts of a layer: numbered in the names, or the first dimension of the tensors that hold them jointly."""
    numbered = {name.partition(".experts.")[2].partition(".")[0] for name in shapes if ".experts." in name}
    numbers = {number for number in numbered if number.isdigit()}
    if numbers:
        return len(numbers)
    return max((shape[0] for name, shape in shapes.items() if ".experts." in name), default=0)
