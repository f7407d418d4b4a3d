"""RunSpec: everything about a run, in one document."""

from pydantic import ValidationError, model_validator

from trainer_core.spec.advantage import Advantage, GRPOAdvantage
from trainer_core.spec.aggregation import Aggregation, TokenMean
from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.checkpoint import Checkpoint
from trainer_core.spec.corrections import Correction, TruncatedImportanceSampling
from trainer_core.spec.curriculum import Curriculum, UniformCurriculum
from trainer_core.spec.data import Data
from trainer_core.spec.evaluation import Evaluation
from trainer_core.spec.filters import Filter, ZeroAdvantageFilter
from trainer_core.spec.guards import Guard
from trainer_core.spec.kl import KL
from trainer_core.spec.loss import Loss, PPOClipLoss
from trainer_core.spec.optimizer import Optimizer
from trainer_core.spec.parallelism import Parallelism
from trainer_core.spec.policy import Policy
from trainer_core.spec.reward import Reward
from trainer_core.spec.rollout import Rollout
from trainer_core.spec.rules import contradictions
from trainer_core.spec.schedule import Schedule
from trainer_core.spec.thinking import NoThinking, Thinking


class RunSpec(SpecModel):
    """A run of reinforcement learning. Combinations that make no sense are refused with the field's path."""

    policy: Policy
    data: Data
    reward: Reward
    rollout: Rollout = Rollout()
    thinking: Thinking = NoThinking()
    curriculum: Curriculum = UniformCurriculum()
    advantage: Advantage = GRPOAdvantage()
    loss: Loss = PPOClipLoss()
    corrections: tuple[Correction, ...] = field((TruncatedImportanceSampling(),), max_length=1)
    kl: KL = KL()
    aggregation: Aggregation = TokenMean()
    filters: tuple[Filter, ...] = (ZeroAdvantageFilter(),)
    optimizer: Optimizer = Optimizer()
    parallelism: Parallelism = Parallelism()
    schedule: Schedule = Schedule()
    guards: tuple[Guard, ...] = ()
    evaluation: Evaluation = Evaluation()
    checkpoint: Checkpoint = Checkpoint()

    @model_validator(mode="after")
    def _makes_sense(self) -> "RunSpec":
        found = contradictions(self)
        if found:
            raise ValidationError.from_exception_data("RunSpec", found)
        return self
