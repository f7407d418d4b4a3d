"""Delivery of batches to the learner: whole, or group by group while others are still being generated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from trainer_core.rewards.outcomes import error_share
from trainer_core.spec import RunSpec
from trainer_core.spec.generation.rollout import StreamedMode
from trainer_core.steering.experience_replay import ReplayBuffer
from worker.learner.stage import Learned, LearningStage
from worker.loop.advantages import assign_advantages
from worker.loop.controls import Controls
from worker.loop.rescoring import MismatchRescoring
from worker.loop.reward_monitor import RewardMonitor
from worker.loop.steering import Steering
from worker.messages.control import AppliedControl
from worker.messages.ticket import Batch, Ticket


class Updates:
    """Hands batches to the learner. Used only by the loop's thread."""

    def __init__(
        self,
        steering: Steering,
        commands: Controls,
        rewards: RewardMonitor,
        learning: LearningStage,
        experience: ReplayBuffer,
        mismatch: MismatchRescoring,
        save: Callable[[int], None],
    ) -> None:
        """``save`` writes the requested checkpoints of the state after a step."""
        self._steering, self._commands, self._rewards, self._learning = steering, commands, rewards, learning
        self._experience, self._mismatch, self._save = experience, mismatch, save
        self._streamed: set[str] | None = None
        """Groups that the learner already has; None while no update is open."""
        self._controls: tuple[AppliedControl, ...] = ()
        """Controls applied with the current update."""

    def learn(self, batch: Batch, version: int) -> Future[Learned]:
        """Hand the batch, or what is left of it, to the learner. Optimizer-step controls apply here.

        Args:
            batch: the batch of one step.
            version: version of the weights that the learner holds before it.
        """
        update = self._finish_stream(batch, version) if self._streams else self._hand_over(batch, version)
        batch.controls, self._controls = self._controls, ()
        batch.revision = max([batch.revision, *(control.revision for control in batch.controls)])
        return update

    def stream(self, step: int, scored: Sequence[Ticket], version: int) -> None:
        """Hand over finished groups, if the mode streams.

        A group with a failed reward waits until the whole batch is judged.
        """
        if not self._streams:
            return
        streamed = self._streamed or set()
        fresh = [t for t in scored if t.name not in streamed and not error_share([t.group])]
        if fresh:
            self._stream(step, fresh, version)

    @property
    def _streams(self) -> bool:
        return isinstance(self._steering.spec.rollout.mode, StreamedMode)

    def _hand_over(self, batch: Batch, version: int) -> Future[Learned]:
        """Hand over the whole batch."""
        self._open(batch.step, batch.tickets[0].name, version)
        self._assign(batch.tickets, batch.spec)
        old = self._experience.take(batch.step, version)
        self._mismatch.ask(batch.tickets, batch.spec, batch.step, version)
        return self._learning.learn([*batch.groups, *old], self._steering.spec, batch.step)

    def _finish_stream(self, batch: Batch, version: int) -> Future[Learned]:
        """Hand over the remaining groups, and update."""
        streamed = self._streamed or set()
        left = [ticket for ticket in batch.tickets if ticket.name not in streamed]
        if left:
            self._stream(batch.step, left, version)
        self._streamed = None
        old = self._experience.take(batch.step, version)
        if old:
            self._learning.accumulate(old)
        self._mismatch.ask(batch.tickets, batch.spec, batch.step, version)
        return self._learning.finish()

    def _open(self, step: int, group: str, version: int) -> None:
        """Apply the controls of ``step`` and write the checkpoint before them. No group is handed over yet."""
        self._controls = tuple(self._commands.apply("optimizer_step", step, group, version, step - 1))
        self._save(step - 1)

    def _stream(self, step: int, tickets: Sequence[Ticket], version: int) -> None:
        """Have the learner accumulate these groups' gradients for ``step``."""
        if self._streamed is None:
            self._streamed = set()
            self._open(step, tickets[0].name, version)
            self._learning.begin(self._steering.spec, step)
        self._assign(tickets, tickets[0].spec)
        self._learning.accumulate([ticket.group for ticket in tickets])
        self._streamed.update(ticket.name for ticket in tickets)

    def _assign(self, tickets: Sequence[Ticket], spec: RunSpec) -> None:
        groups, dispatched = [ticket.group for ticket in tickets], [ticket.spec for ticket in tickets]
        self._rewards.correct(groups)
        assign_advantages(groups, spec, dispatched)
