"""A goldilocks as it is asked for and stored."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from dressage.datasets.derivation.services import Into
from trainer_core.link.profile import ProfilePlan
from trainer_core.spec import RunSpec

StageName = Literal["first", "second"]
OutsideFirst = Literal["may_return", "stay_out"]
OUTSIDE_FIRST: tuple[OutsideFirst, ...] = ("may_return", "stay_out")
SuspectGolds = Literal["leave_out", "keep"]
SUSPECT_GOLDS: tuple[SuspectGolds, ...] = ("leave_out", "keep")


class SecondStage(BaseModel):
    """The stronger policy, and how much it is to sample."""

    model_config = ConfigDict(frozen=True)

    policy: str
    plan: ProfilePlan


class AskedGoldilocks(BaseModel):
    """All that was asked for."""

    model_config = ConfigDict(frozen=True)

    spec: RunSpec
    """Spec of a run over the version alone; its policy is the first one."""
    plan: ProfilePlan
    """Bounds of the first stage; its band is the stage's."""
    second: SecondStage | None
    """None for stage one only."""
    outside_first: OutsideFirst
    """What becomes of rows outside the first band that lie inside the second one."""
    suspects: SuspectGolds
    reuse: bool
    """Whether a stored profile takes the place of sampling."""
    threshold: float
    """Reward from which an answer counts as right."""
    cluster: str | None
    into: Into | None
    """A new dataset for the result; None makes the next version of the dataset."""

    def spec_of(self, stage: StageName) -> RunSpec:
        """Spec of the stage's profile."""
        if stage == "first" or self.second is None:
            return self.spec
        policy = self.spec.policy.model_copy(update={"base": self.second.policy})
        return self.spec.model_copy(update={"policy": policy})

    def plan_of(self, stage: StageName) -> ProfilePlan:
        """Bounds of the stage's profile."""
        return self.plan if stage == "first" or self.second is None else self.second.plan

    @property
    def stages(self) -> tuple[StageName, ...]:
        """The stages that are asked for, in order."""
        return ("first",) if self.second is None else ("first", "second")
