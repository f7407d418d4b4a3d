"""RunSpec: everything about a run, in one document."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.data.batching import Batching
from trainer_core.spec.data.curriculum import Curriculum, UniformCurriculum
from trainer_core.spec.data.prompting import Prompting
from trainer_core.spec.data.sources import Data
from trainer_core.spec.generation.length_window import FixedWindow, LengthWindow
from trainer_core.spec.generation.rollout import Rollout
from trainer_core.spec.generation.thinking import NoThinking, Thinking
from trainer_core.spec.learner.optimizer import Optimizer
from trainer_core.spec.learner.parallelism import Parallelism
from trainer_core.spec.learner.policy import Policy
from trainer_core.spec.learner.precision import Float32Precision, LearnerPrecision
from trainer_core.spec.methods.advantage import Advantage, GRPOAdvantage
from trainer_core.spec.methods.aggregation import Aggregation, TokenMean
from trainer_core.spec.methods.corrections import Correction, TruncatedImportanceSampling
from trainer_core.spec.methods.critic import Critic
from trainer_core.spec.methods.distillation import Distillation
from trainer_core.spec.methods.entropy import EntropyBonus, NoEntropyBonus
from trainer_core.spec.methods.filters import Filter, ZeroAdvantageFilter
from trainer_core.spec.methods.kinds import Compared
from trainer_core.spec.methods.kl import KL
from trainer_core.spec.methods.loss import Loss, PPOClipLoss
from trainer_core.spec.methods.proximal import Proximal, RecomputedProximal
from trainer_core.spec.objective import Examples, Objective, ReinforcementLearning
from trainer_core.spec.operation.checkpoint import Checkpoint
from trainer_core.spec.operation.diagnosis import Diagnosis
from trainer_core.spec.operation.evaluation import Evaluation
from trainer_core.spec.operation.guard_presets import WATCH, WATCH_EXAMPLES
from trainer_core.spec.operation.guards import Guard
from trainer_core.spec.operation.schedule import Schedule
from trainer_core.spec.operation.traces import Traces
from trainer_core.spec.rewards.reward import Reward
from trainer_core.spec.rules.contradictions import contradictions

HEAD = (
    "policy",
    "data",
    "objective",
    "optimizer",
    "precision",
    "parallelism",
    "schedule",
    "guards",
    "evaluation",
    "checkpoint",
)
"""Sections that every run has. All others belong to reinforcement learning."""


def _of_rl(given: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A section that reinforcement learning needs, and no other objective has."""
    if given is not None:
        return read(given)
    if isinstance(info.data.get("objective"), ReinforcementLearning):
        raise PydanticCustomError("missing", "Field required")
    return None


class RunSpec(SpecModel):
    """A run. Combinations that make no sense are refused with the field's path.

    Sections outside ``HEAD`` are those of reinforcement learning. A run with another objective has none of them: they
    are refused if given, and left out of its document.
    """

    policy: Policy
    """What is trained."""
    data: Data
    """What it is trained on."""
    objective: Objective = ReinforcementLearning()
    """What the policy learns from: rewards of its own samples, or the rows of datasets."""
    reward: Annotated[Reward, WrapValidator(_of_rl)] = field(None, validate_default=True)
    """What it is trained for. Reinforcement learning needs it; None under any other objective."""
    rollout: Rollout = Rollout()
    """How completions are sampled."""
    thinking: Thinking = NoThinking()
    """Whether the policy thinks before it answers."""
    length_window: LengthWindow = FixedWindow()
    """How the maximum length changes over the run."""
    curriculum: Curriculum = UniformCurriculum()
    """Which prompts are drawn."""
    prompting: Prompting = Prompting()
    """What is appended to the prompts."""
    batching: Batching = Batching()
    """How the groups of a step are composed."""
    advantage: Advantage = GRPOAdvantage()
    """How rewards become advantages."""
    critic: Critic | None = None
    """The value function that an advantage may need."""
    loss: Loss = PPOClipLoss()
    """The policy objective."""
    proximal: Proximal = RecomputedProximal()
    """The denominator of the loss's ratio."""
    corrections: tuple[Correction, ...] = (TruncatedImportanceSampling(),)
    """Weights for tokens sampled by a policy other than the learner's. Empty: none."""
    kl: KL = KL()
    """Pull towards the base policy."""
    entropy: EntropyBonus = NoEntropyBonus()
    """Pay for the policy's entropy."""
    distillation: Distillation | None = None
    """Pull towards a stronger policy."""
    aggregation: Aggregation = TokenMean()
    """How token losses become one number."""
    filters: tuple[Filter, ...] = (ZeroAdvantageFilter(),)
    """Which trajectories are excluded from the loss; the first that applies gives the reason."""
    optimizer: Optimizer = Optimizer()
    """How gradients become updates."""
    precision: LearnerPrecision = Float32Precision()
    """Number format in which the learner computes."""
    parallelism: Parallelism = Parallelism()
    """How many workers of each kind."""
    schedule: Schedule = Schedule()
    """How long the run lasts and how a step is split."""
    guards: tuple[Guard, ...] = field(WATCH, steer="optimizer_step")
    """Alarms on metrics."""
    diagnosis: Diagnosis = Diagnosis()
    """How often the causes of the mismatch are measured."""
    evaluation: Evaluation = Evaluation()
    """When and on what the policy is evaluated."""
    checkpoint: Checkpoint = Checkpoint()
    """When the run is saved."""
    traces: Traces = Traces()
    """Which rollouts are retained, and for how long."""

    @property
    def examples(self) -> Examples | None:
        """The objective of a run that learns from rows; None for reinforcement learning."""
        return None if isinstance(self.objective, ReinforcementLearning) else self.objective

    @property
    def members(self) -> tuple[str, ...]:
        """Sections that the objective has a use for."""
        return super().members if self.examples is None else HEAD

    @property
    def window(self) -> int:
        """Most tokens of one sequence, the prompt included."""
        return self.rollout.engine.max_model_len if self.examples is None else self.examples.max_tokens

    @property
    def compares(self) -> Compared:
        """Measure of a group's rewards, with the KL penalty in the reward taken into account.

        Under that penalty equal rewards do not make equal advantages: each completion pays for its own distance.
        """
        pays = self.kl.placement == "reward" and self.kl.coefficient > 0
        compared = self.advantage.compares
        return "penalised" if pays and compared in ("group", "parts") else compared

    @property
    def needs_logits(self) -> bool:
        """Whether the update looks at more of the policy's distributions than the sampled tokens' probabilities."""
        distils = self.distillation is not None and self.distillation.distribution != "sampled"
        looks = self.loss.top_tokens > 0 or self.loss.candidates > 0
        return distils or looks or not isinstance(self.entropy, NoEntropyBonus)

    @model_validator(mode="before")
    @classmethod
    def _guards_of_examples(cls, given: Any) -> Any:
        """Runs that learn from rows begin with guards of their own."""
        if not isinstance(given, Mapping) or "guards" in given:
            return given
        objective = given.get("objective")
        kind = objective.get("type") if isinstance(objective, Mapping) else getattr(objective, "type", None)
        return {**given, "guards": WATCH_EXAMPLES} if kind in ("sft", "preference") else given

    @model_serializer(mode="wrap")
    def _own_sections(self, serialise: SerializerFunctionWrapHandler) -> Any:
        """The document without sections that the objective has no use for."""
        document: dict[str, Any] = serialise(self)
        return {name: document[name] for name in self.members if name in document}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of all sections, for documents that are read as for those that are written."""
        schema = handler(_without_serializer(core))
        handler.resolve_ref_schema(schema)["properties"]["reward"].pop("default", None)
        return schema

    @model_validator(mode="after")
    def _makes_sense(self) -> "RunSpec":
        found = contradictions(self)
        if found:
            raise ValidationError.from_exception_data("RunSpec", found)
        return self


def _without_serializer(core: Any) -> Any:
    """The core schema as if documents were written field by field."""
    if not isinstance(core, dict):
        return core
    inner = {"schema": _without_serializer(core["schema"])} if "schema" in core else {}
    return {name: value for name, value in {**core, **inner}.items() if name != "serialization"}
