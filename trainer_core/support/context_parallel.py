"""Reasons why learner ranks cannot split the tokens of a policy, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Path = tuple[str | int, ...]
_FIELD: Path = ("parallelism", "context_parallel_size")
_WHOLE_LENGTH = frozenset({"dynamic", "longrope"})
"""Kinds of rotary positions that depend on the longest position in a forward pass."""
_AS_LONGROPE = {"phi3": frozenset({"su", "yarn"}), "phi4_multimodal": frozenset({"su", "yarn"})}
"""Kinds in the files of a family that are loaded as longrope."""


def of_context(config: Mapping[str, Any], ranks: int) -> Iterator[tuple[Path, str]]:
    """The field, with a sentence that says why ``ranks`` cannot split the tokens of the policy of ``config``."""
    if ranks == 1:
        return
    text = config.get("text_config")
    own: Mapping[str, Any] = text if isinstance(text, Mapping) else config
    one = "set parallelism.context_parallel_size to 1"
    if "linear_attention" in (own.get("layer_types") or ()) or own.get("model_type") == "minimax":
        yield (
            _FIELD,
            "The policy has layers of linear attention, which pass a state from token to token but not from rank to"
            f" rank: {one}.",
        )
        return
    whole_length = _WHOLE_LENGTH | _AS_LONGROPE.get(str(own.get("model_type")), frozenset())
    if (kind := next(iter(sorted(_rotary_kinds(own) & whole_length)), None)) is not None:
        yield (
            _FIELD,
            f"The policy's rotary positions of the kind {kind} depend on the longest position that a rank sees, which"
            f" differs between context-parallel ranks: {one}.",
        )
    heads = own.get("num_attention_heads")
    if type(heads) is int and heads % ranks:
        fitting = ", ".join(str(size) for size in range(1, heads + 1) if heads % size == 0)
        yield (
            _FIELD,
            f"{ranks} ranks cannot divide {heads} attention heads evenly: set parallelism.context_parallel_size to one"
            f" of {fitting}.",
        )


def _rotary_kinds(config: Mapping[str, Any]) -> set[str]:
    """Kinds of rotary positions in the layers, by the names in old and new files."""
    found: set[str] = set()
    for name in ("rope_scaling", "rope_parameters"):
        settings = config.get(name)
        if isinstance(settings, Mapping):
            # One for all layers, or one for each kind of layer.
            for one in (settings, *(part for part in settings.values() if isinstance(part, Mapping))):
                found |= {str(one[key]) for key in ("rope_type", "type") if key in one}
    return found
