"""The request for a goldilocks, as it is stored."""

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
    """The stronger policy, and how much to sample with it."""

    model_config = ConfigDict(frozen=True)

    policy: str
    plan: ProfilePlan


class AskedGoldilocks(BaseModel):
    """The complete request."""

    model_config = ConfigDict(frozen=True)

    spec: RunSpec
    """Spec of a run over only the version; its policy is the first one."""
    plan: ProfilePlan
    """Limits and band of the first stage."""
    second: SecondStage | None
    """None for stage one only."""
    outside_first: OutsideFirst
    """Treatment of rows outside the first band that are inside the second one."""
    suspects: SuspectGolds
    reuse: bool
    """Whether a stored profile may replace sampling."""
    threshold: float
    """Minimum reward at which an answer counts as right."""
    cluster: str | None
    into: Into | None
    """A new dataset for the result; None creates the next version of the dataset."""

    def spec_of(self, stage: StageName) -> RunSpec:
        """Spec of the stage's profile."""
        if stage == "first" or self.second is None:
            return self.spec
        policy = self.spec.policy.model_copy(update={"base": self.second.policy})
        return self.spec.model_copy(update={"policy": policy})

    def plan_of(self, stage: StageName) -> ProfilePlan:
        """Limits of the stage's profile."""
        return self.plan if stage == "first" or self.second is None else self.second.plan

    @property
    def stages(self) -> tuple[StageName, ...]:
        """The requested stages, in order."""
        return ("first",) if self.second is None else ("first", "second")
