"""Files of a policy whose weights are split over the ranks: no rank has the whole policy to write.

Weights are gathered one layer at a time, and the first rank writes each into its own file, under the names that any
loader knows. Every rank writes its own part of the moments.
"""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel

from trainer_core.update.collectives import rank, world_size
from trainer_core.update.hybrid.policy import biases
from trainer_core.update.model.adapter import DOWN, UP, Adapter
from trainer_core.update.model.naming import VALUE_HEAD, apart, layer_as_in_files, layer_of
from trainer_core.update.optimization.engine import UpdateEngine
from trainer_core.update.saving.integrity import CheckpointError, require_finite, sync
from trainer_core.update.saving.together import JointWork

INDEX = "model.safetensors.index.json"
PARTS = "optimizer-*-of-*.safetensors"
"""Names of the files that each hold one rank's part of the moments, in rank order."""


class LayerFiles:
    """The weights of a policy, layer by layer, in the form of a Hugging Face folder."""

    def __init__(self, folder: Path, model: PreTrainedModel, adapter: Adapter | None, layers: int) -> None:
        """Write ``layers`` layers into ``folder``, which must exist; an ``adapter`` is merged."""
        self._folder, self._model, self._adapter, self._layers = folder, model, adapter, layers
        self._biases = biases(model)
        self._map: dict[str, str] = {}
        self._bytes = 0
        self._files = 0
        self.head: dict[str, Tensor] = {}
        """Weights of a value head, which is not part of the policy."""
        self.trained: dict[str, Tensor] = {}
        """The adapter's own weights."""

    def write(self, layer: dict[str, Tensor]) -> None:
        """Write a layer, with its routers' biases.

        Raises:
            CheckpointError: a weight is not finite.
            OSError: the disk is full or not writable.
        """
        require_finite(layer)
        policy, head = apart(layer)
        self.head |= {name: one.cpu().clone() for name, one in head.items()}
        if self._adapter is not None:
            own = [name for name in policy if name.endswith((DOWN, UP))]
            self.trained |= {name: policy[name].cpu().clone() for name in own}
            policy = self._adapter.merged(policy)
        keys = {layer_of(name) for name in policy}
        policy |= {name: bias for name, bias in self._biases.items() if layer_of(name) in keys}
        if not policy:
            return
        found = {name: one.contiguous().cpu() for name, one in layer_as_in_files(self._model, policy).items()}
        self._files += 1
        name = f"model-{self._files:05}-of-{self._layers:05}.safetensors"
        save_file(found, self._folder / name, metadata={"format": "pt"})
        self._map |= dict.fromkeys(found, name)
        self._bytes += sum(one.numel() * one.element_size() for one in found.values())

    def close(self) -> None:
        """Write the index of the layers' files, and the policy's configuration."""
        text = json.dumps({"metadata": {"total_size": self._bytes}, "weight_map": self._map}, indent=1)
        (self._folder / INDEX).write_text(text)
        config = deepcopy(self._model.config)
        config.architectures, config.dtype = [type(self._model).__name__], next(self._model.parameters()).dtype
        config.save_pretrained(self._folder)
        if self._model.can_generate() and self._model.generation_config is not None:
            self._model.generation_config.save_pretrained(self._folder)


def write_weights(
    folder: Path, engine: UpdateEngine, model: PreTrainedModel, adapter: Adapter | None, work: JointWork
) -> LayerFiles:
    """Write the weights layer by layer; only rank 0's files are written. Collective."""
    names = dict.fromkeys(layer_of(name) for name, _ in model.named_parameters() if not name.startswith(VALUE_HEAD))
    files = LayerFiles(folder, model, adapter, len(names))
    for layer in engine.masters_by_layer():
        if rank() == 0:
            work.do(lambda layer=layer: files.write(layer))  # type: ignore[misc]
    return files


def write_moments(training: Path, engine: UpdateEngine) -> None:
    """Write this rank's part of the moments into ``training``, and flush it to the disk.

    Raises:
        CheckpointError: a moment is not finite.
        OSError: the disk is full or not writable.
    """
    own: dict[str, Any] = engine.moment_parts()
    require_finite(own)
    path = training / _part(rank())
    save_file(own, path)
    sync(path)


def require_moments(training: Path) -> None:
    """Refuse a checkpoint in ``training`` with missing parts of the moments after every rank has written.

    Raises:
        CheckpointError: a rank has written its part somewhere else.
    """
    for number in range(world_size()):
        path = training / _part(number)
        if not path.is_file():
            raise CheckpointError(f"{path}: is missing: is the folder the same on every learner's node?")


def _part(number: int) -> str:
    return f"optimizer-{number + 1:05}-of-{world_size():05}.safetensors"
