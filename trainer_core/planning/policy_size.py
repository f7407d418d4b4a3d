"""Size of a policy, as far as memory depends on it, read from its Hugging Face folder without torch and without its
weights."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from trainer_core.spec.learner.adapter import LoRAAdapter

LONGEST_HEADER = 100_000_000
"""Bytes: the format's own limit."""


class UnknownSize(ValueError):
    """The folder does not tell the policy's size; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class PolicySize:
    """Sizes of a decoder with attention and gated feed-forward layers."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    """Intermediate width of one expert, where there are several."""
    vocabulary: int
    experts_per_token: int
    """1 for a dense policy."""
    normalises_heads: bool
    """Whether queries and keys are normalised per head."""
    parameters: int
    """Tied ones once."""
    matrices: Mapping[str, tuple[tuple[int, int], ...]]
    """Shapes of the linear layers that an adapter can stand beside, by their last name."""

    @classmethod
    def of(cls, folder: Path) -> "PolicySize":
        """Reads the size of the policy in ``folder``.

        Raises:
            UnknownSize: its configuration is of another kind.
            OSError: a file is missing.
        """
        config = json.loads((folder / "config.json").read_text())
        shapes = tensor_shapes(folder)
        names = ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
        missing = [name for name in names if not isinstance(config.get(name), int)]
        if missing:
            raise UnknownSize(f"config.json says nothing of {', '.join(missing)}")
        heads = config["num_attention_heads"]
        inner = config.get("moe_intermediate_size") or config.get("intermediate_size") or 4 * config["hidden_size"]
        return cls(
            layers=config["num_hidden_layers"],
            hidden=config["hidden_size"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head_dim=_head_dim(config),
            intermediate=inner,
            vocabulary=config["vocab_size"],
            experts_per_token=_experts(config),
            normalises_heads=any(name.endswith("q_norm.weight") for name in shapes),
            parameters=sum(prod(shape) for shape in shapes.values()),
            matrices=_matrices(shapes),
        )

    def adapter_parameters(self, adapter: LoRAAdapter) -> int:
        """Numbers in the two thin matrices beside each adapted layer."""
        names = adapter.target_modules or tuple(self.matrices)
        return sum(adapter.rank * (rows + columns) for name in names for rows, columns in self.matrices.get(name, ()))


def _head_dim(config: dict[str, Any]) -> int:
    """Size of a query; latent attention expands its heads, and says the size of their rotated part as ``head_dim``."""
    if (rotated := config.get("qk_rope_head_dim")) and (rest := config.get("qk_nope_head_dim")):
        return int(rotated + rest)
    return int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"])


def _experts(config: dict[str, Any]) -> int:
    """Experts that compute each token, shared ones included."""
    if not any(config.get(name) for name in ("num_experts", "num_local_experts", "n_routed_experts")):
        return 1
    return int(config.get("num_experts_per_tok") or 1) + int(config.get("n_shared_experts") or 0)


def tensor_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of all tensors in the safetensors files, whose headers tell them."""
    found: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with path.open("rb") as stream:
                header = json.loads(stream.read(min(int.from_bytes(stream.read(8), "little"), LONGEST_HEADER)))
            found |= {name: tuple(one["shape"]) for name, one in header.items() if name != "__metadata__"}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnknownSize(f"{path.name} is no safetensors file") from error
    if not found:
        raise UnknownSize("there are no safetensors files")
    return found


def _matrices(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[tuple[int, int], ...]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for name, shape in shapes.items():
        inside = name.removesuffix(".weight")
        # Embeddings and output layer stand outside of the layers; experts are held in joint tensors in memory.
        if (
            len(shape) == 2
            and ".layers." in name
            and ".experts." not in name
            and not inside.endswith((".gate", ".router"))
        ):
            found.setdefault(inside.rpartition(".")[2], []).append((shape[0], shape[1]))
    return {name: tuple(all_of) for name, all_of in found.items()}
