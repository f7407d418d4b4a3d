"""The source of a run that learns from rows: draws them, and settles each once in the prompt ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.fates import RUN_ENDED, Fate
from trainer_core.steering.prompt_ledger import LedgerCounts, LedgerError, PromptLedger
from worker.messages.control import AppliedControl

LEFT_OUT = "nothing_to_learn"
"""Drops a row that is too long, or has no token that teaches."""


@dataclass(frozen=True)
class ExampleRows:
    """The rows of one source, encoded."""

    dataset: str
    """Dataset version as ``slug@version``."""
    rows: list[dict[str, Any]]
    """Bare rows."""
    examples: list[tuple[Trajectory, ...]]
    """Examples of each row: none if it is left out, two trajectories for a pair, several if it is split."""

    @property
    def usable(self) -> int:
        """Rows that teach."""
        return sum(map(bool, self.examples))


@dataclass(slots=True)
class DrawnRows:
    """Rows that one step learns from."""

    step: int
    groups: list[Group]
    spec: RunSpec
    """The spec under which it was drawn."""
    applications: int
    """Spec changes in effect when it was drawn."""
    revision: int
    """Newest steering revision that has affected it."""
    controls: tuple[AppliedControl, ...] = ()
    """Optimizer-step controls that first apply to it."""

    @property
    def tokens(self) -> int:
        """Tokens of all sequences, each prompt counted with each of its completions."""
        return sum(len(t.prompt_ids) + t.length for group in self.groups for t in group.trajectories)


class ExampleSource:
    """Draws rows by the mixture's weights, each source in epochs. Used only by the loop's thread."""

    def __init__(self, spec: RunSpec, sources: Mapping[str, ExampleRows], state: Mapping[str, Any] | None) -> None:
        """Start or continue.

        Args:
            spec: the run's.
            sources: training data by source name; each has a row that teaches.
            state: ``snapshot`` of the step that the run continues after; None for a new run.

        Raises:
            LedgerError: the checkpoint's ledger is not that of its curriculum.
        """
        self._sources = sources
        self._curriculum = Curriculum(spec, {name: data.rows for name, data in sources.items()}, spec.schedule.seed)
        self._ledger = PromptLedger()
        self._pending: list[int] = []
        if state is not None:
            self._curriculum.load(state["curriculum"])
            self._ledger = PromptLedger.loaded(state["prompts"])
            if self._ledger.handed_out != self._curriculum.drawn or self._ledger.pending:
                raise LedgerError(
                    f"the checkpoint's ledger counts {self._ledger.handed_out} rows, {len(self._ledger.pending)} of "
                    f"them pending; its curriculum has drawn {self._curriculum.drawn}"
                )

    def draw(self, step: int, spec: RunSpec, revision: int, applications: int) -> DrawnRows:
        """The batch of ``step``: ``prompts_per_step`` rows that teach. Rows left out are replaced by the next ones."""
        groups: list[Group] = []
        while missing := spec.schedule.prompts_per_step - len(groups):
            for draw in self._curriculum.draw(missing, step):
                self._ledger.hand_out(draw.ordinal)
                data = self._sources[draw.source]
                examples = data.examples[draw.row_index]
                if not examples:
                    self._ledger.settle(draw.ordinal, Fate.dropped(LEFT_OUT))
                    continue
                self._pending.append(draw.ordinal)
                group_id = f"{step}-{len(groups)}"
                groups.append(
                    Group(
                        group_id=group_id,
                        prompt_id=draw.prompt_id,
                        source=draw.source,
                        dataset=data.dataset,
                        item=draw.item,
                        prompt_text="",
                        steering_revision=revision,
                        # A row that is drawn twice in one step is two groups.
                        trajectories=[replace(t, trajectory_id=f"{group_id}/{t.trajectory_id}") for t in examples],
                    )
                )
        return DrawnRows(step, groups, spec, applications, revision)

    def settle(self) -> None:
        """Record that the drawn batch was learned."""
        for ordinal in self._pending:
            self._ledger.settle(ordinal, Fate.TRAINED)
        self._pending = []

    def update_spec(self, spec: RunSpec) -> None:
        """Draw by the weights of ``spec`` from now on."""
        self._curriculum.update_spec(spec)

    def metrics(self, batch: DrawnRows) -> dict[str, float]:
        """Epochs so far, and the sources' shares of the batch."""
        drawn = Counter(group.source for group in batch.groups)
        rows = sum(len(data.rows) for data in self._sources.values())
        return {
            "examples/epoch": self._curriculum.drawn / rows,
            **{f"train/mix/{name}": drawn[name] / len(batch.groups) for name in self._sources},
        }

    def ledger(self, *, last: bool) -> LedgerCounts:
        """Figures of all rows drawn so far. After the ``last`` step nothing is pending."""
        return self._ledger.counts(RUN_ENDED if last else None)

    def snapshot(self) -> dict[str, Any]:
        """State from which a resumed attempt continues. Everything drawn so far must be settled."""
        return {"curriculum": self._curriculum.state(), "prompts": self._ledger.state()}
