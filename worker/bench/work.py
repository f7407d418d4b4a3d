"""The work of one bench job: fetch it, score it, answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

import ray
from pydantic import ValidationError
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from trainer_core.link.base import first_fault
from trainer_core.link.bench import BenchJob, BenchResult
from trainer_core.rewards.errors import GraderError
from worker.bench.score import score_job
from worker.cluster import actors as cluster
from worker.cluster.placement import place, usable_gpus
from worker.errors import ClusterError, FencedError, StartError
from worker.judge.open import JudgeSetup
from worker.judge.servers import SERVER_CPUS, JudgeServers, served, start_servers
from worker.link.jobs import JobLink
from worker.scoring.equipped import ToolSetup

log = logging.getLogger(__name__)

SERVERS_UP_S = 600.0
"""Seconds that the engine of a judge may take to find its place and to start."""


class BenchWork:
    """One job, worked on once."""

    def __init__(self, job_id: str, link_url: str, token: str, fenced: Callable[[], object]) -> None:
        """``fenced`` is called, in another thread, once nobody waits for the result any more: it shall end the work."""
        self._job_id, self._url, self._token, self._fenced = job_id, link_url, token, fenced
        self._over = threading.Event()

    def run(self) -> None:
        """Fetch, score, answer. Whatever goes wrong is told to the platform, or logged where it does not listen."""
        try:
            self._attend()
        except FencedError as error:
            log.warning("bench job %s: %s", self._job_id, error)
        except Exception:
            log.exception("bench job %s", self._job_id)
        finally:
            self._over.set()

    def _attend(self) -> None:
        """Work on the job from its fetching to its answer."""
        link = self._open_link()
        try:
            document = link.fetch()
            if link.objection is not None:
                link.answer(BenchResult(error=link.objection))
                return
            try:
                job = BenchJob.model_validate(document)
            except ValidationError as error:
                where, fault = first_fault(error)
                link.answer(BenchResult(error=f"The job is not valid here: {fault} (at {where})"))
                return
            threading.Thread(target=self._keep_lease, args=(job.lease_s / 3,), name="lease", daemon=True).start()
            link.answer(self._result(job))
        finally:
            link.close()

    def _result(self, job: BenchJob) -> BenchResult:
        """Scores, or the reason why there are none."""
        servers: JudgeServers | None = None
        try:
            handles: Mapping[str, Any] = {}
            if needed := served(job.judges):
                cluster.check_resources(SERVER_CPUS * len(needed), "bench job")
                gpus = place(len(needed), 0, usable_gpus()).gpus
                servers = start_servers(needed, lambda slug: f"{cluster.bench_name(job.id)}/judge-{slug}", gpus)
                ray.get(servers.started, timeout=SERVERS_UP_S)
                handles = servers.handles
            return score_job(job, ToolSetup(JudgeSetup(job.judges, handles), job.reward_models))
        except GetTimeoutError:
            return BenchResult(error=f"The cluster found no place for the judge's engine within {SERVERS_UP_S:g} s.")
        except RayTaskError as error:
            return BenchResult(error=f"The judge's engine could not start: {error.cause}")
        except (GraderError, StartError, ClusterError, RayError) as error:
            return BenchResult(error=str(error) or type(error).__name__)
        except ValidationError as error:
            where, fault = first_fault(error)
            return BenchResult(error=f"The scores cannot be told: {fault} (at {where})")
        except Exception as error:
            log.exception("bench job %s", job.id)
            return BenchResult(error=f"{type(error).__name__}: {error}")
        finally:
            if servers is not None:
                servers.close()

    def _open_link(self) -> JobLink:
        return JobLink(self._url, self._token, f"/api/v1/link/bench/{self._job_id}", "bench job")

    def _keep_lease(self, every_s: float) -> None:
        link = self._open_link()
        try:
            while not self._over.wait(every_s):
                link.renew(self._over.is_set)
        except FencedError as error:
            if not self._over.is_set():
                log.warning("bench job %s: %s", self._job_id, error)
                self._fenced()
        finally:
            link.close()
