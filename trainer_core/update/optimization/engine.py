"""The DeepSpeed engine around the policy: backward, step, and whole weights and moments at any ZeRO stage.

DeepSpeed is imported when the first engine is built, not before: it takes a quarter of a second and reads the
environment.
"""

import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from itertools import groupby
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from trainer_core.spec import RunSpec
from trainer_core.update.collectives import join
from trainer_core.update.device import local_rank
from trainer_core.update.model.naming import layer_of
from trainer_core.update.model.shards import import_deepspeed
from trainer_core.update.optimization.masters import Masters
from trainer_core.update.optimization.optimizer import MOMENTS, ClippedAdamW, Clipping


class UpdateEngine:
    """One rank of the DeepSpeed engine. Gradients add up over ``backward`` calls until ``step``.

    Every method but ``forward`` is collective: all ranks must call it.
    """

    def __init__(self, model: nn.Module, spec: RunSpec, *, world_size: int) -> None:
        """Wrap ``model``. The default process group must exist already (gloo on a CPU)."""
        deepspeed = import_deepspeed(next(model.parameters()).device)
        logging.getLogger("DeepSpeed").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"torch\.distributed")
        self.stage = spec.parallelism.zero_stage
        self._world_size = world_size
        self._narrow = spec.policy.dtype != "float32"
        self._offloads = spec.optimizer.offload
        self._own = Masters(model) if self._narrow and self.stage == 0 else None
        self._optimizer = _optimizer(model, spec, self._own)
        deepspeed.init_distributed(auto_mpi_discovery=False, verbose=False)
        self._engine, *_ = deepspeed.initialize(
            model=model, optimizer=self._optimizer, config=_config(spec, world_size), dist_init_required=False
        )
        # DeepSpeed cannot reduce gradients that are accumulated in our own masters.
        self._engine.enable_backward_allreduce = self._own is None
        self._optimizer.allocate(self._masters())
        if self.stage in (1, 2):
            self._engine.optimizer._lazy_init_hp_params_optimizer_state()

    @property
    def forward(self) -> nn.Module:
        """The policy as DeepSpeed runs it."""
        module: nn.Module = self._engine
        return module

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of this rank's share of the loss. Shares are summed over the ranks, not averaged."""
        self._engine.backward(loss if self._own is not None else loss * self._world_size)

    def step(
        self,
        learning_rate: float,
        max_grad_norm: float,
        *,
        divisor: float = 1.0,
        value_rate: float = 0.0,
        policy_rests: bool = False,
    ) -> float | None:
        """Reduce the gradients, divide them by ``divisor``, clip them to the global norm and update the weights.

        A value head moves by ``value_rate`` instead of ``learning_rate``. With ``policy_rests`` it alone moves: the
        policy's weights, moments and step count do not change.

        Returns:
            The gradient norm before clipping; None when it was not finite: then nothing has changed, and the
            gradients are gone.
        """
        for group in self._optimizer.param_groups:
            group["lr"] = value_rate if group["role"] == "value" else learning_rate
            group["resting"] = policy_rests and group["role"] == "policy"
        if self.stage == 0:
            self._optimizer.max_grad_norm, self._optimizer.divisor = max_grad_norm, divisor
            if self._own is not None:
                self._own.reduce(self._world_size)
            self._engine.step()
            if self._own is not None:
                self._own.write()
            return self._optimizer.grad_norm if self._optimizer.applied else None
        self._engine.optimizer.clip_grad = max_grad_norm
        # ZeRO divides gradients by the loss scale just before it clips them; backward() is never called under it.
        self._engine.optimizer.loss_scaler.cur_scale = divisor
        self._engine.step()
        self._engine.optimizer.loss_scaler.cur_scale = 1.0
        return float(self._engine.get_global_grad_norm()) if self._engine.was_step_applied() else None

    def weights(self) -> dict[str, Tensor]:
        """Every weight, whole, under the name it has in the module, on this rank. Tied weights appear once.

        For weights trained in fewer bits, these are the float32 masters.
        """
        from deepspeed.utils import safe_get_full_fp32_param

        with self._gathered():
            whole = {name: self._master(parameter).detach().clone() for name, parameter in self._named()}
        if self._narrow and self.stage:
            whole |= {name: safe_get_full_fp32_param(parameter).clone() for name, parameter in self._trained()}
        return whole

    def layers(self) -> Iterator[dict[str, Tensor]]:
        """The weights in the form that the policy computes with, one layer at a time, whole, not copied.

        A layer's tensors may be read until the next layer is requested.
        """
        for _, named in groupby(self._named(), lambda one: layer_of(one[0])):
            layer = dict(named)
            with self._gathered(list(layer.values())):
                yield {name: parameter.detach() for name, parameter in layer.items()}

    @property
    def shares_weights(self) -> bool:
        """Whether every rank holds only a part of each weight and of its moments."""
        return self.stage == 3 and self._world_size > 1

    def masters_by_layer(self) -> Iterator[dict[str, Tensor]]:
        """``weights`` one layer at a time, not copied.

        A layer's tensors may be read until the next layer is requested. All ranks must request all layers.
        """
        from deepspeed.utils import safe_get_full_fp32_param

        for _, named in groupby(self._named(), lambda one: layer_of(one[0])):
            layer = dict(named)
            with self._gathered(list(layer.values())):
                whole = {name: self._master(parameter).detach() for name, parameter in layer.items()}
                if self._narrow and self.stage:
                    trained = [name for name, parameter in layer.items() if parameter.requires_grad]
                    whole |= {name: safe_get_full_fp32_param(layer[name]) for name in trained}
                yield whole

    def moment_parts(self) -> dict[str, Tensor]:
        """This rank's part of the moments under ZeRO stage 3, as ``<moment>.<weight name>``, flat.

        The parts of all ranks, concatenated, are the whole, without the padding of the last ones. They are not copied
        unless they are offloaded: DeepSpeed returns those as copies on the accelerator, which has no room for all of
        them, so each is moved back to the host immediately.
        """
        from deepspeed.utils import safe_get_local_optimizer_state

        found = {}
        parameter: Any
        for name, parameter in self._trained():
            size = parameter.ds_tensor.numel()
            own = max(0, min(size, parameter.ds_numel - dist.get_rank() * size))
            for key in MOMENTS:
                part = safe_get_local_optimizer_state(parameter, key).flatten()[:own]
                found[f"{key}.{name}"] = part.cpu() if self._offloads else part
        return found

    def moments(self) -> dict[str, Tensor]:
        """AdamW's moments, whole, as ``<moment>.<weight name>``."""
        if self.stage == 0:
            return {f"{key}.{name}": moment.detach().clone() for name, key, moment in self._kept()}
        return {
            f"{key}.{name}": self._get_moment(parameter, key) for name, parameter in self._trained() for key in MOMENTS
        }

    @torch.no_grad()
    def forget_moments(self) -> None:
        """Reset AdamW: moments and step count back to zero."""
        for master in self._masters():
            for tensor in self._optimizer.kept(master).values():
                tensor.zero_()
            self._optimizer.set_steps(master, 0)

    @property
    def optimizer_steps(self) -> int:
        """Optimizer steps that the policy has taken."""
        return self._steps("policy")

    @property
    def value_steps(self) -> int:
        """Optimizer steps that a value head has taken; 0 without one."""
        return self._steps("value")

    @torch.no_grad()
    def load(
        self, weights: Mapping[str, Tensor], moments: Mapping[str, Tensor], optimizer_steps: int, value_steps: int
    ) -> None:
        """Put whole trained weights and moments in place; names and shapes must match (checked by the caller)."""
        for name, parameter in self._trained():
            with self._gathered([parameter], modifier=0):
                parameter.copy_(weights[name])
            if self.stage:
                self._put(parameter, weights[name], None)
                for key in MOMENTS:
                    self._put(parameter, moments[f"{key}.{name}"], key)
        if self.stage == 0:
            for name, key, moment in self._kept():
                moment.copy_(moments[f"{key}.{name}"])
        if self._own is not None:
            for name, parameter in self._trained():
                self._own.of(parameter).copy_(weights[name])
            self._own.write()
        for master, role in zip(self._masters(), self._roles(), strict=True):
            self._optimizer.set_steps(master, value_steps if role == "value" else optimizer_steps)

    def _put(self, parameter: Any, whole: Tensor, moment: str | None) -> None:
        """Set a weight's master, or one of its moments, under ZeRO."""
        from deepspeed.utils import (
            safe_set_full_fp32_param,
            safe_set_full_optimizer_state,
            safe_set_local_fp32_param,
            safe_set_local_optimizer_state,
        )

        if self.stage < 3:
            value = whole.to(parameter.device)
            if moment is None:
                safe_set_full_fp32_param(parameter, value)
            else:
                safe_set_full_optimizer_state(parameter, value, moment)
            return
        # DeepSpeed would read past the end for the last rank's part if the numbers do not divide evenly.
        size = parameter.ds_tensor.numel()
        mine = whole.flatten()[dist.get_rank() * size :][:size].to(parameter.ds_tensor.device)
        mine = nn.functional.pad(mine, (0, size - mine.numel()))
        if moment is None:
            safe_set_local_fp32_param(parameter, mine)
        else:
            safe_set_local_optimizer_state(parameter, mine, moment)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name to whole shape of every trained weight."""
        return {name: tuple(getattr(parameter, "ds_shape", parameter.shape)) for name, parameter in self._trained()}

    def moment_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name to whole shape of every tensor that ``moments`` returns."""
        if self.stage == 0:
            return {f"{key}.{name}": tuple(moment.shape) for name, key, moment in self._kept()}
        return {f"{key}.{name}": shape for name, shape in self.shapes().items() for key in MOMENTS}

    def _kept(self) -> list[tuple[str, str, Tensor]]:
        """Weight name, moment name and the moment itself, without ZeRO."""
        return [
            (name, key, one)
            for name, parameter in self._trained()
            for key, one in self._optimizer.kept(self._master(parameter)).items()
        ]

    def _master(self, parameter: nn.Parameter) -> Tensor:
        """The tensor that AdamW steps for a whole parameter, without ZeRO; with ZeRO, the parameter itself."""
        return parameter if self._own is None else self._own.of(parameter)

    def _named(self) -> list[tuple[str, nn.Parameter]]:
        return list(self._engine.module.named_parameters())

    def _trained(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, parameter) for name, parameter in self._named() if parameter.requires_grad]

    def _masters(self) -> list[Tensor]:
        """The tensors that AdamW updates: the weights themselves, or this rank's flat partitions."""
        if self.stage == 0:
            return [parameter for group in self._optimizer.param_groups for parameter in group["params"]]
        name = "fp32_partitioned_groups_flat" if self.stage == 3 else "single_partition_of_fp32_groups"
        return list(getattr(self._engine.optimizer, name))

    def _roles(self) -> list[str]:
        """Whether each of the masters belongs to the policy or to a value head."""
        groups = self._optimizer.param_groups
        if self.stage == 0:
            return [group["role"] for group in groups for _ in group["params"]]
        numbers = range(len(self._masters()))
        if self.stage == 3:
            owner = self._engine.optimizer.sub_group_to_group_id
            return [groups[owner[number]]["role"] for number in numbers]
        return [groups[number]["role"] for number in numbers]

    def _steps(self, role: str) -> int:
        found = (m for m, owner in zip(self._masters(), self._roles(), strict=True) if owner == role)
        master = next(found, None)
        return 0 if master is None else self._optimizer.steps(master)

    def _get_moment(self, parameter: nn.Parameter, key: str) -> Tensor:
        from deepspeed.utils import safe_get_full_optimizer_state

        return safe_get_full_optimizer_state(parameter, key).clone()

    def _gathered(self, parameters: list[nn.Parameter] | None = None, modifier: int | None = None) -> Any:
        if self.stage < 3:
            return nullcontext()
        import deepspeed

        asked = [parameter for _, parameter in self._named()] if parameters is None else parameters
        return deepspeed.zero.GatheredParameters(asked, modifier_rank=modifier)


def _optimizer(model: nn.Module, spec: RunSpec, masters: Masters | None) -> Clipping:
    if spec.optimizer.moment_bits == 8:
        # It warns about a package with our name.
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        from trainer_core.update.optimization.optimizer_8bit import ClippedAdamW8bit

        return ClippedAdamW8bit(model, spec.optimizer, masters)
    return ClippedAdamW(model, spec.optimizer, masters)


def _config(spec: RunSpec, world_size: int) -> dict[str, Any]:
    stage, narrow = spec.parallelism.zero_stage, spec.policy.dtype == "bfloat16"
    # Stage 1 would add up narrow gradients in their own type, or use an optimizer that refuses nothing.
    partition: dict[str, Any] = {"stage": 2 if narrow and stage == 1 else stage, "overlap_comm": False}
    if spec.optimizer.offload:
        partition["offload_optimizer"] = {"device": "cpu", "pin_memory": True}
    mixed = {"bf16": {"enabled": True}, "data_types": {"grad_accum_dtype": "fp32"}}
    return {
        **(mixed if narrow and stage else {}),
        # The learner splits its own micro-batches and controls the boundary; these two only pass the consistency check.
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": 1,
        "train_batch_size": world_size,
        "managed_gradient_accumulation": False,
        "gradient_clipping": spec.optimizer.max_grad_norm if stage else 0.0,
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "steps_per_print": None,
        "zero_optimization": partition,
    }


def _forget_ended_world() -> None:
    """Make DeepSpeed look up the process group again if it caches one that has ended.

    Another library may have ended the group, as an engine in the same process does when it closes, and a new one may
    have been created since.
    """
    from deepspeed.utils import groups

    if groups._WORLD_GROUP is None:
        return
    try:
        dist.get_rank(groups._WORLD_GROUP)
    except ValueError:  # torch no longer knows it
        groups._WORLD_GROUP = None


def init_process_group(rank: int, world_size: int, init_method: str | None, device: torch.device) -> None:
    """Join the learner's process group; see ``collectives.join``. DeepSpeed uses it too."""
    # DeepSpeed requires it, even if the group already exists.
    os.environ.setdefault("LOCAL_RANK", str(local_rank(rank)))
    _forget_ended_world()
    join(rank, world_size, init_method, device)
