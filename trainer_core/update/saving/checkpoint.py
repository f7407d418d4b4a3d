"""Checkpoints: a Hugging Face folder that is a base policy in itself, with the training state beside it.

    <folder>/model.safetensors, config.json, tokenizer files     what any loader reads
    <folder>/adapter/                                            an adapter in peft's format; merged above
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
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from trainer_core.update.collectives import gather_from_ranks, rank
from trainer_core.update.hybrid.policy import biases, read_biases, take_biases
from trainer_core.update.model import adapter as adapters
from trainer_core.update.model.adapter import Adapter
from trainer_core.update.model.naming import VALUE_HEAD, apart, as_in_files, as_in_memory
from trainer_core.update.optimization.engine import UpdateEngine
from trainer_core.update.saving.integrity import (
    CheckpointError,
    require_finite,
    sync,
    sync_tree,
    verify_manifest,
    write_manifest,
)
from trainer_core.update.saving.saved import SavedCheckpoint

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
    adapter: Adapter | None = None,
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
        adapter: inside the policy, where it has one.

    Raises:
        CheckpointError: a weight or moment is not finite.
        OSError: the disk is full or not writable; an older checkpoint at ``folder`` is as it was.
    """
    whole, moments, random = engine.weights(), engine.moments(), _random_states()
    if rank() != 0:
        return None
    inside, head = apart(whole)
    weights = inside if adapter is None else adapter.merged(inside)
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
        if adapter is not None:
            adapter.write(partial / adapters.FOLDER, inside)
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
    """State that a checkpoint gives back."""

    version: int
    """Training steps behind the weights."""
    extra: dict[str, Any]
    """The caller's state."""
    held: dict[str, dict[str, Tensor]]
    counters: dict[str, float]


def load(
    folder: Path,
    engine: UpdateEngine,
    model: PreTrainedModel,
    held: Mapping[str, Mapping[str, Tensor]] | None = None,
    adapter: Adapter | None = None,
) -> Restored:
    """Verify a checkpoint and put its trained weights, moments and generator states in place. Collective.

    Args:
        folder: the checkpoint.
        engine: takes weights and moments.
        model: the policy inside the engine; gives the names that its weights have in memory.
        held: tensors of the names and shapes that the caller expects beside them; given back from the files.
        adapter: inside the policy; its base policy must be the one that the checkpoint was trained on.

    Raises:
        CheckpointError: a file is missing, changed, or not listed, or the tensors are not this policy's; nothing was
            loaded.
    """
    verify_manifest(folder)
    training = folder / TRAINING
    try:
        state = json.loads((training / "state.json").read_text())
        if adapter is None and (folder / adapters.FOLDER).exists():
            raise CheckpointError(f"{folder}: was trained with an adapter, and this run trains all weights")
        stored = _load_weights(folder)
        weights = stored if adapter is None else _adapter(folder)
        moments = load_file(training / "optimizer.safetensors")
        random = load_file(training / "random.safetensors")
        shapes = engine.shapes()
        if any(name.startswith(f"{VALUE_HEAD}.") for name in shapes):
            weights |= _read(training, VALUE_HEAD)
        found = {name: _read(training, name) for name in held or {}}
    except OSError as error:
        raise CheckpointError(f"{error.filename}: cannot be read ({error.strerror})") from error
    if adapter is None:
        weights = as_in_memory(model, folder, weights)
    _require_shapes(folder, weights, shapes)
    _require_shapes(training, moments, engine.moment_shapes())
    for name, tensors in found.items():
        _require_shapes(training, tensors, {key: tuple(tensor.shape) for key, tensor in (held or {})[name].items()})
    for tensors in (weights, moments, *found.values()):
        require_finite(tensors)
    if adapter is not None:
        resting, _ = apart({name: tensor.cpu() for name, tensor in engine.weights().items()} | weights)
        trained = {name: tensor for name, tensor in stored.items() if name not in biases(model)}
        _require_base(folder, as_in_files(model, adapter.merged(resting)), trained)
    # Checkpoints from before the two were told apart have one count for both.
    engine.load(weights, moments, state["optimizer_steps"], state.get("value_steps", state["optimizer_steps"]))
    take_biases(model, read_biases(folder))
    if (own := random.get(f"torch.{rank()}")) is not None:
        torch.set_rng_state(own)
    return Restored(int(state["version"]), dict(state["extra"]), found, dict(state.get("counters", {})))


def _adapter(folder: Path) -> dict[str, Tensor]:
    place = folder / adapters.FOLDER
    if not (place / adapters.FILE).is_file():
        raise CheckpointError(f"{place / adapters.FILE}: is missing; the checkpoint was written without an adapter")
    return adapters.read(place)


def _require_base(folder: Path, merged: Mapping[str, Tensor], stored: Mapping[str, Tensor]) -> None:
    """An adapter says nothing without the weights under it: those must be what they were."""
    for name, tensor in stored.items():
        # Another machine may add up in another order.
        if name not in merged or not torch.allclose(merged[name].cpu().float(), tensor.float(), rtol=1e-4, atol=1e-5):
            raise CheckpointError(f"{folder}: {name} shows that the adapter was trained on another base policy")


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
    return {f"torch.{number}": state for number, state in enumerate(gather_from_ranks(torch.get_rng_state()))}


def _put_in_place(partial: Path, folder: Path) -> None:
    """Rename, with an older folder of the same name kept under another name until the new one stands."""
    replaced = folder.with_name(f".{folder.name}.replaced")
    shutil.rmtree(replaced, ignore_errors=True)
    if folder.exists():
        os.rename(folder, replaced)
    os.rename(partial, folder)
    sync(folder.parent)
    shutil.rmtree(replaced, ignore_errors=True)
