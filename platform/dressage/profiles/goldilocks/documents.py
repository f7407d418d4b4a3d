"""The JSON documents of goldilocks."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment, OneOf, Stored
from dressage.common.times import iso
from dressage.profiles.goldilocks.asked import AskedGoldilocks, OutsideFirst, StageName, SuspectGolds
from dressage.profiles.goldilocks.cost import GoldilocksCost
from dressage.profiles.goldilocks.decide import GoldilocksReport
from dressage.profiles.models import Goldilocks, GoldilocksState
from trainer_core.link.profile import ProfilePlan
from trainer_core.spec import RunSpec


class GoldilocksStage(TypedDict):
    """One requested stage, and its profile."""

    stage: StageName
    policy: str
    plan: ProfilePlan
    """Limits and band of the stage."""
    profile: str | None
    """Null before the stage has started."""
    reused: bool
    """Whether the stage used an existing profile."""


class GoldilocksVersion(TypedDict):
    """The created version."""

    dataset_id: str
    number: int
    ref: str
    rows: int


class GoldilocksDocument(TypedDict):
    """A goldilocks in one or two stages, with its progress."""

    id: str
    state: Annotated[str, OneOf(GoldilocksState)]
    error: str | None
    """Reason it failed, and what to do."""
    version: str
    """The version whose rows are tried: ``slug@number``."""
    spec: Annotated[dict[str, Any], Stored(RunSpec)]
    """Spec of the first stage; the second one differs in its policy."""
    threshold: float
    outside_first: OutsideFirst
    """Treatment of rows outside the first band that are inside the second one."""
    suspects: SuspectGolds
    """Treatment of rows with a suspect gold."""
    stages: list[GoldilocksStage]
    report: GoldilocksReport | None
    made: GoldilocksVersion | None
    """Null if none was created, or it was deleted."""
    created_at: Moment
    finished_at: Moment | None
    created_by: str


class StartedGoldilocks(TypedDict):
    """The cost of a goldilocks, and the job if it was started."""

    cost: GoldilocksCost
    job: GoldilocksDocument | None
    """Null if only the cost was requested."""


def goldilocks_document(job: Goldilocks) -> GoldilocksDocument:
    """A goldilocks as the API shows it."""
    asked = AskedGoldilocks.model_validate(job.asked)
    profiles = {"first": job.first_id, "second": job.second_id}
    plans = {"first": job.asked["plan"], "second": (job.asked["second"] or {}).get("plan")}
    made = job.made_version
    return {
        "id": job.id,
        "state": job.state,
        "error": job.error,
        "version": job.version.ref,
        "spec": job.asked["spec"],
        "threshold": asked.threshold,
        "outside_first": asked.outside_first,
        "suspects": asked.suspects,
        "stages": [
            {
                "stage": stage,
                "policy": asked.spec_of(stage).policy.base,
                "plan": plans[stage],
                "profile": profiles[stage],
                "reused": stage in job.reused,
            }
            for stage in asked.stages
        ],
        "report": job.report,
        "made": None
        if made is None
        else {"dataset_id": made.dataset_id, "number": made.number, "ref": made.ref, "rows": made.rows},
        "created_at": iso(job.created_at),
        "finished_at": iso(job.finished_at),
        "created_by": job.created_by,
    }
