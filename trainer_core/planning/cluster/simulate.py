"""A run on a cluster: the simulated loop at the rates of its links and GPUs, with slow hosts and failures."""

from dataclasses import dataclass
from functools import cache

from trainer_core.planning.cluster.failures import CheckpointPlan, Fleet, Passage, passage
from trainer_core.planning.cluster.hardware import Cluster
from trainer_core.planning.cluster.layout import EngineLayout, LearnerLayout
from trainer_core.planning.cluster.publication import PublicationPlan
from trainer_core.planning.cluster.rates import (
    FITTED,
    ClusterAttained,
    engine_rates,
    learner_rates,
    mean_context,
    slowest,
)
from trainer_core.planning.cluster.scale import Scale
from trainer_core.planning.lengths import Lengths
from trainer_core.planning.rates import Rates, SyncRates
from trainer_core.planning.simulate import SimulatedStep, simulate
from trainer_core.planning.workload import LoopMode, PlanError, Workload

SHARDED = PublicationPlan("sharded")
CHECKPOINT_BYTES = 14
"""Bytes of one parameter in a checkpoint: weights in 2, masters in 4, two moments in 8."""


@dataclass(frozen=True, slots=True)
class BatchWork:
    """A step's work."""

    prompts: int
    group_size: int
    prompt_tokens: float
    lengths: Lengths
    max_tokens: int
    updates: int = 1
    """Minibatches per pass over the batch."""
    epochs: int = 1
    """Passes over the batch."""
    max_running: int = 1024
    """Sequences that one engine runs at the same time, if its cache holds them."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A run on a cluster."""

    cluster: Cluster
    scale: Scale
    batch: BatchWork
    mode: LoopMode
    engine: EngineLayout
    learner: LearnerLayout
    engines: int
    copies: int
    """Copies of the learner, each with its own tokens."""
    colocated: bool = False
    """Whether engines and learner take turns on the same GPUs."""
    publication: PublicationPlan = SHARDED
    checkpoint_every_steps: int = 10
    attained: ClusterAttained = FITTED

    @property
    def gpus(self) -> int:
        """GPUs in use."""
        engines, learner = self.engines * self.engine.tensor, self.copies * self.learner.gpus
        return max(engines, learner) if self.colocated else engines + learner

    def check(self) -> None:
        """Raises ``PlanError`` if the run does not fit the cluster."""
        if self.engines < 1 or self.copies < 1:
            raise PlanError("a run needs at least one engine and one copy of the learner.")
        if self.colocated and (self.mode.max_staleness > 0 or self.mode.streams):
            raise PlanError(f"engines and learner cannot share GPUs in the mode {self.mode.name!r}: they overlap.")
        if self.gpus > self.cluster.gpus:
            raise PlanError(f"the run needs {self.gpus} GPUs; the cluster has {self.cluster.gpus}.")
        self.engine.cache_bytes(self.cluster, self.scale)
        self.learner.check(self.cluster, self.scale, self.copies)


@dataclass(frozen=True, slots=True)
class GpuTimeShares:
    """Shares of the time of the GPUs in use; they add up to 1."""

    generating: float
    """Share in which engines decode or prefill."""
    learning: float
    """Share in which the learner learns or publishes."""
    loading: float
    """Share in which engines stand still for new weights."""
    waiting: float
    """Share of waits for the other side, for the longest sequence, for hand-overs."""
    saving: float
    """Share of checkpoints."""
    failures: float
    """Share of work done twice, of restarts, and of the slower steps while engines are away."""


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """Outcome of a simulated run."""

    gpus: int
    seconds: float
    """Time of all steps, including checkpoints and failures."""
    step_seconds: float
    """Mean time of a step, including its share of them."""
    step: SimulatedStep
    """A step without failures and checkpoints."""
    sync: SyncRates
    shares: GpuTimeShares
    passage: Passage
    samples_per_s: float
    tokens_per_s: float
    """Completion tokens learned."""

    @property
    def gpu_hours_per_1000_steps(self) -> float:
        """GPU hours of a thousand steps."""
        return self.gpus * self.step_seconds * 1000 / 3600


def simulate_cluster(setting: Setting, *, steps: int = 1000, seed: int = 0) -> ClusterRun:
    """Simulate ``steps`` steps.

    Args:
        setting: the run.
        steps: how many; the loop is simulated once for each number of working engines, failures over all steps.
        seed: seed for the order of lengths and the times of failures.

    Raises:
        PlanError: the run does not fit; the message says why.
    """
    setting.check()
    work = workload(setting)
    whole = simulate(work, setting.mode, setting.engines, setting.copies, seed=seed)

    @cache
    def step_seconds(engines: int) -> float:
        if engines == setting.engines:
            return whole.step_seconds
        fewer = simulate(work, setting.mode, engines, setting.copies, seed=seed).step_seconds
        return max(fewer, whole.step_seconds)

    fleet = Fleet(
        engines=setting.engines,
        engine_gpus=0 if setting.colocated else setting.engine.tensor,
        learner_gpus=setting.copies * setting.learner.gpus,
        reliability=setting.cluster.reliability,
    )
    passed = passage(steps, step_seconds, fleet, _saving(setting), seed=seed)
    step = passed.seconds / steps
    return ClusterRun(
        gpus=setting.gpus,
        seconds=passed.seconds,
        step_seconds=step,
        step=whole,
        sync=work.rates.sync,
        shares=_shares(setting, whole, passed, steps),
        passage=passed,
        samples_per_s=work.samples / step,
        tokens_per_s=whole.tokens_per_step / step,
    )


def workload(setting: Setting) -> Workload:
    """The step at the rates of the cluster."""
    batch = setting.batch
    return Workload(
        prompts=batch.prompts,
        group_size=batch.group_size,
        max_tokens=batch.max_tokens,
        max_running=batch.max_running,
        updates=batch.updates,
        epochs=batch.epochs,
        rates=cluster_rates(setting),
    )


def cluster_rates(setting: Setting) -> Rates:
    """Rates of the run on its cluster.

    A loop that waits for all engines waits for their slowest host. An overlapping loop has the speed of the mean host,
    since requests go to free engines. The learner always waits for its slowest host.
    """
    cluster, batch, at = setting.cluster, setting.batch, setting.attained
    inside = cluster.node.machine.gpus
    waits = setting.mode.max_staleness == 0
    engine_hosts = max(1.0, setting.engines * setting.engine.tensor / inside) if waits else 1.0
    learner_hosts = max(1.0, setting.copies * setting.learner.gpus / inside)
    samples = batch.prompts * batch.group_size / batch.updates
    context = mean_context(batch.prompt_tokens, batch.lengths, batch.max_tokens)
    publication = setting.publication.sync(
        cluster,
        setting.scale.parameters * setting.engine.width,
        setting.engines,
        setting.engine,
        setting.copies * setting.learner.gpus,
        at,
    )
    return Rates(
        source="computed from the vendors' figures and the shares that software attains, not measured",
        engine=engine_rates(
            cluster,
            setting.scale,
            setting.engine,
            context,
            batch.max_running,
            at,
            slow=slowest(cluster, engine_hosts),
        ),
        learner=learner_rates(
            cluster,
            setting.scale,
            setting.learner,
            context,
            at,
            microbatches=max(1.0, samples / setting.copies),
            slow=slowest(cluster, learner_hosts),
        ),
        sync=publication,
        loop_seconds=at.step_seconds + (at.turn_seconds if setting.colocated else 0.0),
        prompt_tokens=batch.prompt_tokens,
        lengths=batch.lengths,
    )


def _saving(setting: Setting) -> CheckpointPlan:
    """Every host of the learner writes its part."""
    cluster = setting.cluster
    hosts = max(1, setting.copies * setting.learner.gpus // cluster.node.machine.gpus)
    seconds = cluster.store.seconds(setting.scale.parameters * CHECKPOINT_BYTES / hosts, setting.attained.links)
    return CheckpointPlan(setting.checkpoint_every_steps, seconds)


def _shares(setting: Setting, step: SimulatedStep, passed: Passage, steps: int) -> GpuTimeShares:
    ideal = min(steps * step.step_seconds, passed.worked) / passed.seconds
    engines = setting.engines * setting.engine.tensor / setting.gpus
    learner = setting.copies * setting.learner.gpus / setting.gpus
    generating = ideal * engines * step.engine_seconds / step.step_seconds
    learning = ideal * learner * step.learner_seconds / step.step_seconds
    loading = ideal * engines * step.load_seconds / step.step_seconds
    saving = passed.saved / passed.seconds
    return GpuTimeShares(
        generating=generating,
        learning=learning,
        loading=loading,
        waiting=ideal - generating - learning - loading,
        saving=saving,
        failures=(passed.seconds - passed.saved) / passed.seconds - ideal,
    )
