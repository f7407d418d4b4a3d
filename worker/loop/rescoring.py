"""Frozen-weight rescoring: some of a batch's tokens are scored again by engine and learner at the same weights.

Any difference that remains cannot be due to age, so ``trainer_core.diagnosis.attribute`` can separate the causes. Both
sides get their request just before the update of a step, in the order of their queues, so both hold the weights of the
previous step. The loop does not wait for the answer. It is reported with the first step after it arrives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trainer_core.diagnosis import Attribution, RescoredTokens, attribute
from trainer_core.episodes import Trajectory
from trainer_core.prompting.format import training_format
from trainer_core.spec import RunSpec
from worker.messages.ticket import Ticket

if TYPE_CHECKING:
    from trainer_core.update.rescoring import LearnerSide  # with the policy, which a controller never loads
    from worker.engine.tokenizer import PolicyTokenizer
    from worker.learner.stage import LearningStage
    from worker.rollout.router import Router

CAUSES = ("numerics", "staleness", "truncation", "template", "unexplained")


@dataclass(slots=True)
class _Asked:
    version: int
    trajectories: list[Trajectory]
    engine: Future[list[list[float]]]
    learner: Future[dict[str, LearnerSide]]


class MismatchRescoring:
    """Requests rescorings when they are due, and reports their results. Used only by the loop's thread."""

    def __init__(self, engines: Router, learning: LearningStage, tokenizer: PolicyTokenizer) -> None:
        self._engines, self._learning, self._tokenizer = engines, learning, tokenizer
        self._asked: _Asked | None = None
        self._failure: str | None = None

    def ask(self, tickets: Sequence[Ticket], spec: RunSpec, step: int, version: int) -> None:
        """Request a rescoring of some of the batch's trajectories if one is due at ``step``.

        Args:
            tickets: the filtered tickets of the batch: the learner scores only what takes part in the loss.
            spec: the current spec.
            step: the step about to be learned.
            version: version of the weights that both sides hold before it.
        """
        every = spec.diagnosis.every_steps
        if self._asked is not None or every == 0 or step % every:
            return
        chosen = _choose(tickets, spec)
        if not chosen:
            return
        trajectories = [trajectory for _, trajectory in chosen]
        self._asked = _Asked(
            version,
            trajectories,
            self._engines.score([[*t.prompt_ids.tolist(), *t.token_ids.tolist()] for t in trajectories]),
            self._learning.rescore(
                trajectories, self._own_prompts(chosen), top_p=spec.rollout.top_p, top_k=spec.rollout.top_k
            ),
        )

    def metrics(self) -> dict[str, float]:
        """Causes of mismatch that a rescoring has found since the last call; empty if there is none."""
        asked = self._asked
        if asked is None or not (asked.engine.done() and asked.learner.done()):
            return {}
        if any(trajectory.learner_logprobs is None for trajectory in asked.trajectories):
            return {}  # their update is still running
        self._asked = None
        try:
            rescored = combine(asked.trajectories, asked.engine.result(), asked.learner.result())
        except Exception as error:  # a failed diagnosis is reported, and does not end the run
            self._failure = str(getattr(error, "cause", error))
            return {}
        return attribution_metrics(attribute(asked.trajectories, rescored, asked.version))

    def take_failure(self) -> str | None:
        """Reason why the last rescoring failed; returned once."""
        why, self._failure = self._failure, None
        return why

    def _own_prompts(self, chosen: Sequence[tuple[Ticket, Trajectory]]) -> dict[str, NDArray[np.int32]]:
        """Prompts rendered again from their dataset rows, except those with hints, nudges or budgets appended."""
        found: dict[str, NDArray[np.int32]] = {}
        for ticket, trajectory in chosen:
            if not ticket.asks:
                form = training_format(ticket.spec, ticket.group.source)
                (prompt,) = self._tokenizer.encode_rows([ticket.group.item], form)
                found[trajectory.trajectory_id] = prompt
        return found


def combine(
    trajectories: Sequence[Trajectory], engine: Sequence[Sequence[float]], learner: Mapping[str, LearnerSide]
) -> dict[str, RescoredTokens]:
    """Combine both sides' scores of each trajectory, by id.

    Args:
        trajectories: the rescored trajectories.
        engine: log-probability, at temperature 1, of each token of prompt and completion except the first.
        learner: the learner's side, by trajectory id.
    """
    return {
        trajectory.trajectory_id: RescoredTokens(
            engine=np.asarray(scores[-trajectory.length :], np.float64),
            learner=side.logprobs,
            log_kept=side.log_kept,
            template=side.template,
        )
        for trajectory, scores in zip(trajectories, engine, strict=True)
        for side in [learner[trajectory.trajectory_id]]
    }


def attribution_metrics(found: Attribution | None) -> dict[str, float]:
    """The ``rollout_corr/cause/*`` metrics; empty if nothing was rescored."""
    if found is None:
        return {}
    parts = {name: asdict(getattr(found, name)) for name in CAUSES}
    return {f"rollout_corr/cause/{name}": part["mean_abs"] for name, part in parts.items()}


def _choose(tickets: Sequence[Ticket], spec: RunSpec) -> list[tuple[Ticket, Trajectory]]:
    """Choose trajectories spread evenly over the batch, among those that are learned from and short enough."""
    limit = min(spec.diagnosis.max_tokens, spec.rollout.engine.max_model_len - 1)
    fit = [
        (ticket, trajectory)
        for ticket in tickets
        for trajectory in ticket.group.trajectories
        if trajectory.excluded is None
        and trajectory.sampled.any()
        and len(trajectory.prompt_ids) + trajectory.length <= limit
    ]
    count = min(spec.diagnosis.trajectories, len(fit))
    return [fit[index * len(fit) // count] for index in range(count)]
