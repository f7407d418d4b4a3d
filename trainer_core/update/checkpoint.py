"""Checkpoints: a Hugging Face folder that is a base policy in itself, with the training state beside it.

    <folder>/model.safetensors, config.json, tokenizer files     what any loader reads
    <folder>/training/optimizer.safetensors                      AdamW's moments by weight name, whole
    <folder>/training/value_head.safetensors                     a value head on the policy, where there is one
    <folder>/training/<what>.safetensors                         what else the learner keeps: critic, reference, ...
    <folder>/training/random.safetensors                         generator states by rank
    <folder>/training/state.json                                 versions, and the caller's own state
    <folder>/manifest.json                                       SHA-256 of every file above

Nothing is pickled. A checkpoint does not depend on the number of ranks or the ZeRO stage that wrote it.
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from trainer_core.update.engine import MOMENTS, UpdateEngine
from trainer_core.update.hybrid.policy import biases, read_biases, take_biases
from trainer_core.update.integrity import (
    CheckpointError,
    require_finite,
    sync,
    sync_tree,
    verify_manifest,
    write_manifest,
)
from trainer_core.update.naming import as_in_memory
from trainer_core.update.optimizer import VALUE_HEAD
from trainer_core.update.saved import SavedCheckpoint

TRAINING = "training"
COMPANIONS = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "generation_config.json",
)
"""Files of the base policy that a checkpoint carries on unchanged."""


def save(
    folder: Path,
    engine: UpdateEngine,
    model: PreTrainedModel,
    base: Path,
    version: int,
    extra: Mapping[str, Any],
    held: Mapping[str, Mapping[str, Tensor]] | None = None,
    counters: Mapping[str, float] | None = None,
) -> SavedCheckpoint | None:
    """Write a checkpoint so that ``folder`` is either whole or not there. Collective; rank 0 writes and returns it.

    A folder that exists already is replaced.

    Args:
        folder: final place; written beside it under a temporary name, flushed, then renamed.
        engine: gives weights and moments.
        model: the policy inside the engine; gives its configuration.
        base: the base policy's folder, for tokenizer and generation settings.
        version: training steps behind the weights.
        extra: JSON-able state of the caller.
        held: other tensors to keep, by file and name.
        counters: numbers that belong to them.

    Raises:
        CheckpointError: a weight or moment is not finite.
        OSError: the disk is full or not writable; an older checkpoint at ``folder`` is as it was.
    """
    whole, moments, random = engine.weights(), engine.moments(), _random_states()
    if dist.get_rank() != 0:
        return None
    weights, head = apart(whole)
    files = {**(held or {}), **({VALUE_HEAD: head} if head else {})}
    for tensors in (weights, moments, *files.values()):
        require_finite(tensors)
    state = {
        "version": version,
        "optimizer_steps": engine.optimizer_steps,
        "value_steps": engine.value_steps,
        "counters": dict(counters or {}),
        "extra": extra,
    }
    text = json.dumps(state, indent=1, allow_nan=False)
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        model.save_pretrained(partial, state_dict={**weights, **biases(model)})
        for name in COMPANIONS:
            if (base / name).is_file():
                shutil.copyfile(base / name, partial / name)
        (partial / TRAINING).mkdir()
        save_file(moments, partial / TRAINING / "optimizer.safetensors")
        save_file(random, partial / TRAINING / "random.safetensors")
        for name, tensors in files.items():
            save_file(dict(tensors), partial / TRAINING / f"{name}.safetensors")
        (partial / TRAINING / "state.json").write_text(text)
        digest = write_manifest(partial)
        sync_tree(partial)
        size = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
        _put_in_place(partial, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return SavedCheckpoint(str(folder), size, digest, version)


@dataclass(frozen=True, slots=True)
class Restored:
    """What a checkpoint gives back."""

    version: int
    """Training steps behind the weights."""
    extra: dict[str, Any]
    """The caller's state."""
    held: dict[str, dict[str, Tensor]]
    counters: dict[str, float]


def apart(weights: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The policy's weights, and those of a value head among them."""
    head = {name: tensor for name, tensor in weights.items() if name.startswith(f"{VALUE_HEAD}.")}
    return {name: tensor for name, tensor in weights.items() if name not in head}, head


def load(
    folder: Path,
    engine: UpdateEngine,
    model: PreTrainedModel,
    held: Mapping[str, Mapping[str, Tensor]] | None = None,
) -> Restored:
    """Verify a checkpoint and put its weights, moments and generator states in place. Collective.

    Args:
        folder: the checkpoint.
        engine: takes weights and moments.
        model: the policy inside the engine; gives the names that its weights have in memory.
        held: tensors of the names and shapes that the caller expects beside them; given back from the files.

    Raises:
        CheckpointError: a file is missing, changed, or not listed, or the tensors are not this policy's; nothing was
            loaded.
    """
    verify_manifest(folder)
    training = folder / TRAINING
    try:
        state = json.loads((training / "state.json").read_text())
        weights = _load_weights(folder)
        moments = load_file(training / "optimizer.safetensors")
        random = load_file(training / "random.safetensors")
        shapes = engine.shapes()
        if any(name.startswith(f"{VALUE_HEAD}.") for name in shapes):
            weights |= _read(training, VALUE_HEAD)
        found = {name: _read(training, name) for name in held or {}}
    except OSError as error:
        raise CheckpointError(f"{error.filename}: cannot be read ({error.strerror})") from error
    weights = as_in_memory(model, folder, weights)
    _require_shapes(folder, weights, shapes)
    _require_shapes(training, moments, {f"{key}.{name}": shape for key in MOMENTS for name, shape in shapes.items()})
    for name, tensors in found.items():
        _require_shapes(training, tensors, {key: tuple(tensor.shape) for key, tensor in (held or {})[name].items()})
    for tensors in (weights, moments, *found.values()):
        require_finite(tensors)
    # Checkpoints from before the two were told apart have one count for both.
    engine.load(weights, moments, state["optimizer_steps"], state.get("value_steps", state["optimizer_steps"]))
    take_biases(model, read_biases(folder))
    if (own := random.get(f"torch.{dist.get_rank()}")) is not None:
        torch.set_rng_state(own)
    return Restored(int(state["version"]), dict(state["extra"]), found, dict(state.get("counters", {})))


def _read(training: Path, name: str) -> dict[str, Tensor]:
    path = training / f"{name}.safetensors"
    if not path.is_file():
        raise CheckpointError(f"{path}: is missing; the checkpoint was written without it")
    return load_file(path)


def _load_weights(folder: Path) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        weights.update(load_file(path))
    return weights


def _require_shapes(place: Path, tensors: Mapping[str, Tensor], expected: Mapping[str, tuple[int, ...]]) -> None:
    for name in sorted(tensors.keys() | expected.keys()):
        if name not in tensors or name not in expected or tuple(tensors[name].shape) != expected[name]:
            found = tuple(tensors[name].shape) if name in tensors else "nothing"
            raise CheckpointError(f"{place}: {name} is {found}, the policy has {expected.get(name, 'no such tensor')}")


def _random_states() -> dict[str, Tensor]:
    own = torch.get_rng_state()
    states = [torch.empty_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(states, own)
    return {f"torch.{rank}": state for rank, state in enumerate(states)}


def _put_in_place(partial: Path, folder: Path) -> None:
    """Rename, with an older folder of the same name set aside until the new one stands."""
    aside = folder.with_name(f".{folder.name}.replaced")
    shutil.rmtree(aside, ignore_errors=True)
    if folder.exists():
        os.rename(folder, aside)
    os.rename(partial, folder)
    sync(folder.parent)
    shutil.rmtree(aside, ignore_errors=True)
