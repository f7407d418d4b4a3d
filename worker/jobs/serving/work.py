"""The work of one serving: starts engines for its models, and answers the platform or clients of the policy's API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from trainer_core.link.jobs import SERVING, JobKind
from trainer_core.link.serving import (
    EMBEDDING,
    MOST_AT_ONCE,
    ServedAnswer,
    ServedQuestion,
    ServingExchange,
    ServingGateway,
    ServingJob,
    ServingProgress,
    ServingQuestions,
    ServingResult,
)
from worker.errors import ClusterError, StartError
from worker.gateway.server import PolicyServer
from worker.jobs.link import JobLink
from worker.jobs.work import JobWork, WorkerLost
from worker.judge.embedding import EmbeddingServer
from worker.judge.served import JudgeServer, ServedReply
from worker.judge.servers import SERVERS_UP_S, JudgeServers, bring_up

POLL_S = 0.2
"""Minimum seconds between two exchanges."""
IDLE_CHECK_S = 5.0
"""Seconds between two checks whether clients still use a served policy."""
ENGINE_CPUS = 0.0
"""CPUs reserved with Ray for an engine. On CPUs it never waits for a run to end, nor a run for it."""
_MOST_BYTES = 4 << 20
"""Most answer text in one exchange; the rest goes with the next."""


class ServingWork(JobWork[ServingJob]):
    """Serves until the platform refuses, or until clients have long not used a policy that is served to them."""

    kind: ClassVar[JobKind] = SERVING

    def _read(self, document: dict[str, Any]) -> ServingJob:
        """Implements ``JobWork._read``."""
        return ServingJob.model_validate(document)

    def _failure(self, reason: str) -> ServingResult:
        """Implements ``JobWork._failure``."""
        return ServingResult(error=reason)

    def _result(self, job: ServingJob) -> ServingResult:
        """The reason why the models cannot be served.

        Raises:
            FencedError: the platform no longer needs it.
            WorkerLost: an engine was lost after the first answer: another worker continues.
        """
        try:
            server = _server(job)
            own = self.kind.actor(job.id)
            servers = bring_up(job.models, "serving", lambda name: f"{own}/{name}", server, ENGINE_CPUS)
        except GetTimeoutError:
            return ServingResult(error=f"The cluster found no place for the model within {SERVERS_UP_S:g} s.")
        except RayTaskError as error:
            return ServingResult(error=f"The model's engine could not start: {error.cause}")
        except (StartError, ClusterError, RayError) as error:
            return ServingResult(error=str(error) or type(error).__name__)
        if job.gateway is not None:
            return self._serve_clients(servers, job.gateway)
        link = self._open_link()
        counter = _Counter(servers.handles, link)
        try:
            counter.serve()
        except RayActorError as error:
            if counter.has_answered:
                raise WorkerLost(f"an engine was lost: {error}") from error
            return ServingResult(error="The model's engine was lost before its first answer: the memory may not do.")
        finally:
            link.close()
            servers.close()

    def _serve_clients(self, servers: JudgeServers, gateway: ServingGateway) -> ServingResult:
        """Serve the one model over HTTP until no client has used it for some time.

        Raises:
            WorkerLost: the engine was lost: another worker continues.
        """
        ((model, server),) = servers.handles.items()
        try:
            base_url: str = ray.get(server.listen.remote(model, gateway.key_sha256))
            self._tell(ServingProgress(base_url=base_url), at_once=True)
            while ray.get(server.idle_s.remote()) < gateway.idle_s:
                time.sleep(min(IDLE_CHECK_S, gateway.idle_s))
        except RayTaskError as error:
            return ServingResult(error=str(error.cause))
        except RayActorError as error:
            raise WorkerLost(f"the engine was lost: {error}") from error
        finally:
            servers.close()
        return ServingResult(error=None)


def _server(job: ServingJob) -> type[JudgeServer | EmbeddingServer]:
    """The actor class for the job's models."""
    if job.gateway is not None:
        return PolicyServer
    return EmbeddingServer if EMBEDDING in job.models else JudgeServer


class _Counter:
    """Fetches questions and returns answers."""

    def __init__(self, handles: Mapping[str, Any], link: JobLink) -> None:
        self._handles, self._link = handles, link
        self._under_way: dict[ray.ObjectRef, ServedQuestion] = {}
        self._answered: list[ServedAnswer] = []
        self.has_answered = False

    def serve(self) -> NoReturn:
        """Serve forever. Raises FencedError once it is no longer needed, and RayActorError if an engine is lost."""
        while True:
            begun = time.monotonic()
            self._exchange()
            self._collect(max(0.0, POLL_S - (time.monotonic() - begun)))

    def _exchange(self) -> None:
        told, size = 0, 0
        for answer in self._answered:
            size += len(answer.text)
            if told and size > _MOST_BYTES:
                break
            told += 1
        kept = self._answered[told:]
        holding = [one.id for one in self._under_way.values()] + [one.id for one in kept]
        given = ServingExchange(
            answers=tuple(self._answered[:told]), holding=tuple(holding), room=MOST_AT_ONCE - len(holding)
        )
        found = ServingQuestions.model_validate(self._link.exchange("exchange", given))
        self.has_answered = self.has_answered or told > 0
        self._answered = kept
        for question in found.questions:
            self._put(question)

    def _put(self, question: ServedQuestion) -> None:
        handle = self._handles.get(question.model)
        if handle is None:
            self._answered.append(ServedAnswer(id=question.id, error=f"there is no model {question.model!r} any more"))
        else:
            self._under_way[handle.reply.remote(question)] = question

    def _collect(self, seconds: float) -> None:
        """Collect the answers that the engines return within ``seconds``."""
        if not self._under_way:
            time.sleep(seconds)
            return
        refs = list(self._under_way)
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=seconds)
        for ref in ready:
            question = self._under_way.pop(ref)
            try:
                reply: ServedReply = ray.get(ref)
                answer = ServedAnswer(
                    id=question.id,
                    text=reply.text,
                    prompt_tokens=reply.prompt_tokens,
                    completion_tokens=reply.completion_tokens,
                    finish_reason=reply.finish_reason,
                )
            except RayTaskError as error:
                answer = ServedAnswer(id=question.id, error=str(error.cause)[:2000])
            self._answered.append(answer)
