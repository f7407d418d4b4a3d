"""Nothing is computed on another device than the policy's: score, loss and gradient of a policy on the meta device.

It holds shapes and no numbers, so that every tensor which is made on the CPU by oversight meets one that is not there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tests.support.about import LEARNING
from tests.trainer_core.methods.test_corrections import VARIANTS as CORRECTIONS
from tests.trainer_core.methods.test_losses import VARIANTS as LOSSES
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.spec import RunSpec
from trainer_core.update.formats.precision import Flows
from trainer_core.update.model.adapter import attach
from trainer_core.update.model.invariance import use_batch_invariance
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.objective.policy_objective import denominators, loss_share
from trainer_core.update.packed.packing import Packing, pack
from trainer_core.update.totals import Totals

ELSEWHERE = torch.device("meta")
FP8 = {"dtype": "bfloat16", "lm_head_dtype": "float32", "quantization": {"type": "fp8"}}


class OneDevice(TorchDispatchMode):
    """Refuses operations over two devices, and lets a number that is not there be 1."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
        if len({one.device for one in tensors if one.ndim}) > 1:
            raise AssertionError(f"{func} reads from {', '.join(sorted({str(one.device) for one in tensors}))}")
        if func is torch.ops.aten._local_scalar_dense.default and tensors[0].device == ELSEWHERE:
            return 1
        return func(*args, **(kwargs or {}))


def learn(folder: Path, spec: RunSpec, adapt: Callable[[nn.Module], Any] = lambda model: None) -> None:
    model = load_policy(folder, flows=Flows.of(spec))
    adapt(model)
    model.to(ELSEWHERE)
    groups = make_groups(0, groups=2)
    trajectories = [trajectory for group in groups for trajectory in group.trajectories]
    [batch] = pack(trajectories, Packing(16_384, exact=True))
    there, whole = batch.to(ELSEWHERE), denominators(trajectories)
    with OneDevice():
        logprobs, entropies = score(model, there)
        loss = loss_share(spec, there, logprobs, logprobs.detach(), logprobs.detach(), whole, Totals())
        loss.backward()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert {one.device for one in (logprobs, entropies, loss)} == {ELSEWHERE}
    assert trained and all(parameter.grad is not None for parameter in trained)


def test_a_tensor_on_the_cpu_would_be_found() -> None:
    with OneDevice(), pytest.raises(AssertionError, match="reads from cpu, meta"):
        torch.zeros(3, device=ELSEWHERE) + torch.ones(3)


# minpro asks how long the sequences are, which shapes alone do not tell.
@pytest.mark.parametrize("loss", [one for one in LOSSES if one["type"] != "minpro"], ids=str)
def test_losses(policy_dir: Path, loss: dict[str, Any]) -> None:
    learn(policy_dir, make_spec(loss=loss, corrections=[], kl={"coefficient": 0.1}))


@pytest.mark.parametrize("correction", CORRECTIONS, ids=str)
def test_corrections(policy_dir: Path, correction: dict[str, Any]) -> None:
    learn(policy_dir, make_spec(corrections=[correction]))


@pytest.mark.parametrize(
    "parts",
    [
        {"precision": {"type": "half", "dtype": "bfloat16"}},
        {"precision": {"type": "half", "dtype": "float16"}},
        {"precision": {"type": "unified"}, "rollout": {"engine": FP8}},
        {"aggregation": {"type": "sequence_mean"}},
    ],
    ids=str,
)
def test_formats(policy_dir: Path, parts: dict[str, Any]) -> None:
    learn(policy_dir, make_spec(**parts))


@pytest.mark.expensive(2, "builds a learner and steps it", about=LEARNING)
def test_batch_invariance_and_adapters(policy_dir: Path) -> None:
    spec = make_spec(policy={"base": "tiny", "adapter": {"type": "lora", "rank": 4, "alpha": 8}})
    learn(policy_dir, spec, lambda model: attach(model, spec.policy.adapter, seed=0, base="tiny"))
    learn(policy_dir, make_spec(), use_batch_invariance)
