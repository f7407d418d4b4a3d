"""The work of one bench job: judges' engines if it needs any, and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ValidationError
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from trainer_core.link.base import first_fault
from trainer_core.link.bench import BenchJob, BenchResult
from trainer_core.link.jobs import BENCH, JobKind
from trainer_core.rewards.errors import GraderError
from worker.errors import ClusterError, StartError
from worker.jobs.bench.score import score_job
from worker.jobs.work import JobWork
from worker.judge.open import JudgeSetup
from worker.judge.servers import SERVERS_UP_S, JudgeServers, bring_up, served
from worker.scoring.equipped import ToolSetup


class BenchWork(JobWork[BenchJob]):
    """Scores the samples of one job."""

    kind: ClassVar[JobKind] = BENCH

    def _read(self, document: dict[str, Any]) -> BenchJob:
        """Implements ``JobWork._read``."""
        return BenchJob.model_validate(document)

    def _failure(self, reason: str) -> BenchResult:
        """Implements ``JobWork._failure``."""
        return BenchResult(error=reason)

    def _result(self, job: BenchJob) -> BenchResult:
        """The scores, or the reason why there are none."""
        servers: JudgeServers | None = None
        try:
            handles: Mapping[str, Any] = {}
            if served(job.judges):
                name = self.kind.actor(job.id)
                servers = bring_up(job.judges, "bench job", lambda slug: f"{name}/judge-{slug}")
                handles = servers.handles
            return score_job(job, ToolSetup(JudgeSetup(job.judges, handles), job.reward_models))
        except GetTimeoutError:
            return BenchResult(error=f"The cluster had no room for the judge's engine within {SERVERS_UP_S:g} s.")
        except RayTaskError as error:
            return BenchResult(error=f"The judge's engine could not start: {error.cause}")
        except (GraderError, StartError, ClusterError, RayError) as error:
            return BenchResult(error=str(error) or type(error).__name__)
        except ValidationError as error:
            where, fault = first_fault(error)
            return BenchResult(error=f"The scores cannot be reported: {fault} (at {where})")
        finally:
            if servers is not None:
                servers.close()
