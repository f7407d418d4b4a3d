"""Models that one rank of the learner holds: the policy in its engine, and the other models that its loss needs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trainer_core.spec import RunSpec
from trainer_core.spec.methods.corrections import RouterShiftWeighting
from trainer_core.spec.methods.critic import HeadCritic, SeparateCritic
from trainer_core.spec.methods.entropy import AdaptiveEntropyBonus
from trainer_core.spec.objective import Preference
from trainer_core.support.context_parallel import of_context
from trainer_core.update import capabilities
from trainer_core.update.auxiliary.bare import BareBackbone
from trainer_core.update.auxiliary.critic import SeparateValue, ValueHead
from trainer_core.update.auxiliary.entropy_control import EntropyControl
from trainer_core.update.auxiliary.frozen_policy import FrozenPolicy
from trainer_core.update.auxiliary.proximal import ProximalPolicy
from trainer_core.update.auxiliary.supervised import Supervisor
from trainer_core.update.auxiliary.teacher import Teacher
from trainer_core.update.formats.precision import Flows
from trainer_core.update.hybrid.policy import biases
from trainer_core.update.hybrid.routing import experts_per_token
from trainer_core.update.hybrid.setup import prepare_routing
from trainer_core.update.model.adapter import attach
from trainer_core.update.model.invariance import use_batch_invariance
from trainer_core.update.model.naming import apart, layer_as_in_files, layer_of
from trainer_core.update.model.policy import load_policy
from trainer_core.update.model.shards import ShardedWeights, whole_shape
from trainer_core.update.model.storage import DTYPES, HostMemory, bound_kernels, stored
from trainer_core.update.optimization.engine import UpdateEngine
from trainer_core.update.packed.attention import UnsupportedPolicy

Tensors = dict[str, dict[str, Tensor]]


def require_shared_context(config: Mapping[str, Any], ranks: int) -> None:
    """Raise UnsupportedPolicy if ``ranks`` ranks cannot split the tokens of the policy of ``config``."""
    for _, sentence in of_context(config, ranks):
        raise UnsupportedPolicy(sentence)


def _placement(spec: RunSpec, world_size: int, device: torch.device) -> ShardedWeights | None:
    """Shards if ZeRO stage 3 splits the weights anyway; None if every rank holds all of them."""
    return ShardedWeights(device) if spec.parallelism.zero_stage == 3 and world_size > 1 else None


def _compares(spec: RunSpec) -> bool:
    """Whether the loss is measured from a reference policy."""
    return spec.kl.coefficient > 0 or (isinstance(spec.examples, Preference) and spec.examples.has_reference)


class LearnerModels:
    """The models, loaded once. The spec at the start decides which ones exist."""

    def __init__(
        self,
        base: Path,
        spec: RunSpec,
        world_size: int,
        device: torch.device,
        teacher: Path | None = None,
        reference: Path | None = None,
    ) -> None:
        """Load everything from the base policy's folder, except a teacher or reference with its own. Collective."""
        capabilities.require(spec, device)
        bound_kernels()
        checkpointing, flows = spec.policy.gradient_checkpointing, Flows.of(spec)
        if spec.policy.dtype != "float32":
            flows = Flows()
        context = spec.parallelism.context_parallel_size
        place = _placement(spec, world_size, device)
        loaded = load_policy(
            base,
            device=device,
            gradient_checkpointing=checkpointing,
            keeps_attention=not spec.policy.activation_offload,
            flows=flows,
            placement=place,
        )
        self.model = loaded.train()
        require_shared_context(self.model.config.to_dict(), context)
        self.dtype = DTYPES[spec.policy.dtype]
        stored(self.model, self.dtype, place)
        if spec.policy.activation_offload:
            HostMemory(self.model, pinned=True)
        self.adapter = attach(self.model, spec.policy.adapter, seed=spec.schedule.seed, base=spec.policy.base)
        self.experts = experts_per_token(self.model)
        self.joint = self.experts is not None or any(len(whole_shape(one)) > 2 for one in self.model.parameters())
        """Whether engines pack several of the policy's weights into one."""
        self.balancer = prepare_routing(self.model, spec.policy.routing, base.name)
        if any(isinstance(one, RouterShiftWeighting) for one in spec.corrections) and self.experts is None:
            raise ValueError(
                f"the correction router_shift weights by the routing of experts: the policy {base.name!r} has none"
            )
        self.head = ValueHead(self.model) if isinstance(spec.critic, HeadCritic) else None
        self.engine = UpdateEngine(self.model, spec, world_size=world_size)
        separate = isinstance(spec.critic, SeparateCritic)
        self.critic = SeparateValue(base, spec, world_size, device) if separate else None
        self.reference: FrozenPolicy | BareBackbone | None = None
        if _compares(spec) and self.adapter is not None and reference is None:
            self.reference = BareBackbone(self.engine.forward, self.adapter)
        elif _compares(spec):
            # A reference that is reset takes over whole weights.
            shared = place if spec.kl.reset_steps is None else None
            copy = FrozenPolicy(reference or base, device, flows.alone, self.dtype, placement=shared)
            # Without a KL penalty it is the policy that the run starts from.
            named = spec.kl.reference if spec.examples is None else (reference or base).name
            self._require_alike(copy, named, context)
            self.reference = copy
        self.proximal = ProximalPolicy(spec.proximal, base, device, flows.alone, self.dtype)
        self.teacher = None
        if spec.distillation is not None:
            self.teacher = Teacher(spec.distillation, teacher, self.vocab_size, device)
            require_shared_context(self.teacher.config, context)
        self.supervisor = Supervisor(base)
        self.entropy = EntropyControl(spec)
        self._adapts_entropy = isinstance(spec.entropy, AdaptiveEntropyBonus)
        self._renews_reference = spec.kl.reset_steps is not None
        self.invariant = spec.parallelism.batch_invariant and self._make_invariant(spec)
        """Whether log-probabilities do not depend on the packed batch: ``update/model/invariance.py``."""

    def _require_alike(self, reference: FrozenPolicy, name: str, context: int) -> None:
        """Raise ValueError if the reference policy cannot score what the policy generates."""
        known = int(reference.model.get_input_embeddings().num_embeddings)
        if known != self.vocab_size:
            raise ValueError(f"the reference policy {name!r} has {known} tokens, the policy {self.vocab_size}")
        require_shared_context(reference.model.config.to_dict(), context)

    def _make_invariant(self, spec: RunSpec) -> bool:
        if spec.needs_logits or self.teacher is not None:
            return False  # full distributions are computed for all tokens together
        copies = [one for one in (self.reference, self.proximal.copy) if isinstance(one, FrozenPolicy)]
        return all([use_batch_invariance(model) for model in (self.model, *(one.model for one in copies))])

    @property
    def vocab_size(self) -> int:
        """Size of the policy's vocabulary."""
        return int(self.model.get_input_embeddings().num_embeddings)

    def weights(self) -> dict[str, Tensor]:
        """The policy as one set of weights by name in memory, with an adapter merged and without a value head.

        In the form that it computes with: rounded if it stores them in fewer bits than their masters. Collective.
        """
        kinds = {name: parameter.dtype for name, parameter in self.model.named_parameters()}
        return self._merged({name: weight.to(kinds[name]) for name, weight in apart(self.engine.weights())[0].items()})

    def layers(self) -> Iterator[dict[str, Tensor]]:
        """``weights`` one layer at a time, by their names in files; see ``UpdateEngine.layers``. Collective."""
        own = biases(self.model)
        for layer in self.engine.layers():
            policy = self._merged(apart(layer)[0])
            keys = {layer_of(name) for name in policy}
            policy |= {name: bias for name, bias in own.items() if layer_of(name) in keys}
            if policy:
                yield layer_as_in_files(self.model, policy)

    def masters(self) -> dict[str, Tensor]:
        """``weights`` as the optimizer has them, float32 if they are trained. Collective."""
        return self._merged(apart(self.engine.weights())[0])

    def _merged(self, policy: dict[str, Tensor]) -> dict[str, Tensor]:
        return policy if self.adapter is None else self.adapter.merged(policy)

    def renew(self, spec: RunSpec, step: int) -> None:
        """Update what is due on a schedule, before a step's first forward pass. Repeating it changes nothing."""
        if spec.kl.coefficient > 0 and self.reference is None:
            raise ValueError("kl.coefficient is above 0 but the learner was started without a reference policy")
        if _compares(spec) and self.reference is None:
            raise ValueError("the preference loss needs a reference policy but the learner was started without one")
        every = spec.kl.reset_steps
        if isinstance(self.reference, FrozenPolicy) and every is not None and step > 1 and (step - 1) % every == 0:
            self.reference.blend(self.weights())
            self.engine.forget_moments()
        self.proximal.begin_step(step, self.weights)

    def held(self) -> tuple[Tensors, dict[str, float]]:
        """Parts of a checkpoint other than the policy: tensors by file and name, and numbers. Collective."""
        held: Tensors = {}
        counters = {"proximal_normaliser": self.proximal.normaliser}
        if self._adapts_entropy:
            counters["entropy_weight"] = self.entropy.held
        if isinstance(self.reference, FrozenPolicy) and self._renews_reference:
            held["reference"] = self.reference.tensors()
        if proximal := self.proximal.tensors():
            held["proximal"] = proximal
        if self.critic is not None:
            held["critic"] = self.critic.tensors()
            counters["critic_steps"] = self.critic.engine.optimizer_steps
        return held, counters

    def restore(self, held: Tensors, counters: Mapping[str, float]) -> None:
        """Restore what ``held`` returned. Collective."""
        if isinstance(self.reference, FrozenPolicy) and "reference" in held:
            self.reference.blend(held["reference"])
        # A checkpoint from before the run's bonus became adaptive has none: it starts from the spec.
        self.entropy.held = counters.get("entropy_weight", self.entropy.held)
        self.proximal.load(held.get("proximal", {}), counters.get("proximal_normaliser", 1.0))
        if self.critic is not None:
            self.critic.load(held["critic"], int(counters["critic_steps"]))
