"""Checkpoints: a Hugging Face folder that is itself a base policy, together with the training state.

    <folder>/model.safetensors, config.json, tokenizer files     what any loader reads
    <folder>/adapter/                                            an adapter in peft's format; merged in the above
    <folder>/model-<layer>-of-<layers>.safetensors and an index  the same if the ranks split the weights
    <folder>/training/optimizer.safetensors                      AdamW's moments by weight name, whole
    <folder>/training/optimizer-<rank>-of-<ranks>.safetensors    the same in flat parts, if the ranks split them
    <folder>/training/value_head.safetensors                     a value head on the policy, if there is one
    <folder>/training/<what>.safetensors                         the learner's other models: critic, reference, ...
    <folder>/training/random.safetensors                         generator states by rank
    <folder>/training/state.json                                 versions, and the caller's own state
    <folder>/manifest.json                                       SHA-256 of every file above

Nothing is pickled. Any number of ranks, at any ZeRO stage, can read what any other number has written, one weight at a
time.
"""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
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
from trainer_core.update.model.naming import VALUE_HEAD, apart, as_in_memory, layer_as_in_files
from trainer_core.update.optimization.engine import UpdateEngine
from trainer_core.update.saving.integrity import (
    CheckpointError,
    require_finite,
    sync,
    sync_tree,
    verify_manifest,
    write_manifest,
)
from trainer_core.update.saving.partial import held
from trainer_core.update.saving.saved import SavedCheckpoint
from trainer_core.update.saving.shards import PARTS, require_moments, write_moments, write_weights
from trainer_core.update.saving.stored import JoinedTensors, Shape, StoredTensors
from trainer_core.update.saving.together import JointWork

TRAINING = "training"
MOMENTS = "optimizer.safetensors"
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
"""Files of the base policy that a checkpoint copies unchanged."""


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
    """Write a checkpoint so that ``folder`` is either complete or absent. Collective; rank 0 writes and returns it.

    A folder that exists already is replaced.

    Args:
        folder: final path; written next to it under a temporary name, flushed, then renamed.
        engine: provides weights and moments.
        model: the policy inside the engine; provides its configuration.
        base: the base policy's folder, for tokenizer and generation settings.
        version: training steps that led to the weights.
        extra: JSON-able state of the caller.
        held: other tensors to save, by file and name.
        counters: numbers that belong to these tensors.
        adapter: the adapter inside the policy, if it has one.

    Raises:
        CheckpointError: a weight or moment is not finite, or what another rank has written is missing.
        OSError: the disk is full or not writable; an older checkpoint at ``folder`` is unchanged.
    """
    folder = folder.absolute()
    partial = folder.with_name(f".{folder.name}.partial")
    contents = _Contents(partial, engine, model, base, adapter, held or {}, _random_states())
    state = {
        "version": version,
        "optimizer_steps": engine.optimizer_steps,
        "value_steps": engine.value_steps,
        "counters": dict(counters or {}),
        "extra": extra,
    }
    with contents.lock:
        try:
            (contents.write_shared if engine.shares_weights else contents.write_whole)()
            if rank() != 0:
                return None
            text = json.dumps(state, indent=1, allow_nan=False)
            (partial / TRAINING / "state.json").write_text(text)
            digest = write_manifest(partial)
            sync_tree(partial)
            size = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
            _put_in_place(partial, folder)
        except BaseException:
            if rank() == 0:
                contents.remove()
            raise
    return SavedCheckpoint(str(folder), size, digest, version)


@dataclass(frozen=True, slots=True)
class _Contents:
    """Files of a checkpoint that is being written, except its state and its manifest."""

    partial: Path
    engine: UpdateEngine
    model: PreTrainedModel
    base: Path
    adapter: Adapter | None
    held: Mapping[str, Mapping[str, Tensor]]
    random: Mapping[str, Tensor]
    lock: ExitStack = field(default_factory=ExitStack)
    """Holds the folder until it is in place or removed."""

    def write_whole(self) -> None:
        """Write the files from weights and moments that every rank gathers. Collective; rank 0 writes."""
        whole, moments = self.engine.weights(), self.engine.moments()
        if rank() != 0:
            return
        inside, head = apart(whole)
        weights = inside if self.adapter is None else self.adapter.merged(inside)
        for tensors in (weights, moments, head):
            require_finite(tensors)
        self._begin()
        self.model.save_pretrained(self.partial, state_dict={**weights, **biases(self.model)})
        save_file(moments, self.partial / TRAINING / MOMENTS)
        self._write_others(head, inside)

    def write_shared(self) -> None:
        """Write the files without gathering all weights anywhere. Collective; if one rank fails, all do."""
        work = JointWork()
        if rank() == 0:
            work.do(self._begin)
        work.settle(self.remove)  # the folder exists
        files = write_weights(self.partial, self.engine, self.model, self.adapter, work)
        work.do(lambda: write_moments(self.partial / TRAINING, self.engine))
        if rank() == 0:
            work.do(files.close)
            work.do(lambda: self._write_others(files.head, files.trained))
        work.settle(self.remove)
        if rank() == 0:
            require_moments(self.partial / TRAINING)

    def remove(self) -> None:
        """Remove what has been written."""
        shutil.rmtree(self.partial, ignore_errors=True)

    def _begin(self) -> None:
        for tensors in self.held.values():
            require_finite(tensors)
        self.partial.parent.mkdir(parents=True, exist_ok=True)
        self.remove()
        (self.partial / TRAINING).mkdir(parents=True)
        self.lock.enter_context(held(self.partial))

    def _write_others(self, head: Mapping[str, Tensor], inside: Mapping[str, Tensor]) -> None:
        for name in COMPANIONS:
            if (self.base / name).is_file():
                shutil.copyfile(self.base / name, self.partial / name)
        if self.adapter is not None:
            self.adapter.write(self.partial / adapters.FOLDER, inside)
        save_file(dict(self.random), self.partial / TRAINING / "random.safetensors")
        for name, tensors in {**self.held, **({VALUE_HEAD: head} if head else {})}.items():
            save_file(dict(tensors), self.partial / TRAINING / f"{name}.safetensors")


@dataclass(frozen=True, slots=True)
class Restored:
    """State restored from a checkpoint."""

    version: int
    """Training steps that led to the weights."""
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
        engine: receives weights and moments.
        model: the policy inside the engine; provides the names of its weights in memory.
        held: tensors with the names and shapes of the other tensors that the caller expects; filled from the files.
        adapter: the adapter inside the policy; its base policy must be the one that the checkpoint was trained on.

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
        stored = StoredTensors(sorted(folder.glob("*.safetensors")))
        moments = _moments(training, engine)
        random = load_file(training / "random.safetensors")
        shapes = engine.shapes()
        beside = [training / f"{VALUE_HEAD}.safetensors"] if any(n.startswith(f"{VALUE_HEAD}.") for n in shapes) else []
        weights: Mapping[str, Tensor]
        if adapter is None:
            weights = StoredTensors([*sorted(folder.glob("*.safetensors")), *map(_require_file, beside)])
        else:
            weights = _adapter(folder) | dict(StoredTensors([_require_file(path) for path in beside]))
        found = {name: load_file(_require_file(training / f"{name}.safetensors")) for name in held or {}}
    except OSError as error:
        raise CheckpointError(f"{error.filename}: cannot be read ({error.strerror})") from error
    if adapter is None:
        weights = as_in_memory(model, folder, weights)
    _require_shapes(folder, _shapes(weights), shapes)
    _require_shapes(training, moments.shapes, engine.moment_shapes())
    for name, tensors in found.items():
        _require_shapes(training, _shapes(tensors), _shapes((held or {})[name]))
    for held_in_files in (weights, moments, *found.values()):
        require_finite(held_in_files)
    if adapter is not None:
        _require_base(folder, engine, model, adapter, weights, stored)
    # Checkpoints from before the two were separate have one count for both.
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


def _require_base(
    folder: Path,
    engine: UpdateEngine,
    model: PreTrainedModel,
    adapter: Adapter,
    trained: Mapping[str, Tensor],
    stored: Mapping[str, Tensor],
) -> None:
    """An adapter is meaningless without its base weights, so those must be unchanged. Collective."""
    missing = stored.keys() - biases(model).keys()
    for layer in engine.masters_by_layer():
        resting, _ = apart({name: trained[name] if name in trained else one.cpu() for name, one in layer.items()})
        for name, tensor in layer_as_in_files(model, adapter.merged(resting)).items():
            # Another machine may sum in a different order.
            if name in missing and torch.allclose(tensor.cpu().float(), stored[name].float(), rtol=1e-4, atol=1e-5):
                missing.discard(name)
    if missing:
        raise CheckpointError(f"{folder}: {min(missing)} shows that the adapter was trained on another base policy")


def _moments(training: Path, engine: UpdateEngine) -> StoredTensors | JoinedTensors:
    """Moments of a checkpoint, in any number of files."""
    parts = sorted(training.glob(PARTS))
    return JoinedTensors(parts, engine.moment_shapes()) if parts else StoredTensors([training / MOMENTS])


def _require_file(path: Path) -> Path:
    if not path.is_file():
        raise CheckpointError(f"{path}: is missing; the checkpoint was written without it")
    return path


def _shapes(tensors: Mapping[str, Tensor]) -> Mapping[str, Shape]:
    if isinstance(tensors, StoredTensors | JoinedTensors):
        return tensors.shapes
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _require_shapes(place: Path, shapes: Mapping[str, Shape], expected: Mapping[str, Shape]) -> None:
    for name in sorted(shapes.keys() | expected.keys()):
        if name not in shapes or name not in expected or shapes[name] != expected[name]:
            found = shapes.get(name, "nothing")
            raise CheckpointError(f"{place}: {name} is {found}, the policy has {expected.get(name, 'no such tensor')}")


def _random_states() -> dict[str, Tensor]:
    return {f"torch.{number}": state for number, state in enumerate(gather_from_ranks(torch.get_rng_state()))}


def _put_in_place(partial: Path, folder: Path) -> None:
    """Rename; an older folder of the same name is kept under another name until the new one is in place."""
    replaced = folder.with_name(f".{folder.name}.replaced")
    shutil.rmtree(replaced, ignore_errors=True)
    if folder.exists():
        os.rename(folder, replaced)
    os.rename(partial, folder)
    sync(folder.parent)
    shutil.rmtree(replaced, ignore_errors=True)
