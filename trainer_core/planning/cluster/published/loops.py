"""Published times, throughputs and speedups of whole loops."""

from dataclasses import replace

from trainer_core.planning.attained import GENERATED, LEARNED
from trainer_core.planning.cluster.failures import CheckpointPlan, Fleet, passage
from trainer_core.planning.cluster.hardware import NODES, Reliability, cluster_of
from trainer_core.planning.cluster.layout import EngineLayout, LearnerLayout
from trainer_core.planning.cluster.published.claim import Claim, Unknown
from trainer_core.planning.cluster.rates import ClusterAttained, learner_tokens_per_s
from trainer_core.planning.cluster.scale import SCALES
from trainer_core.planning.cluster.simulate import BatchWork, Setting, simulate_cluster, workload
from trainer_core.planning.lengths import LognormalLengths, strata
from trainer_core.planning.split import best_split
from trainer_core.planning.workload import LoopMode

SYNC = LoopMode("sync")
ONE_OFF = LoopMode("async", max_staleness=1)
ONE_OFF_IN_FLIGHT = LoopMode("in_flight", max_staleness=1, interrupts=True)
NEMO_PROMPT = 150.0
"""Assumed prompt tokens of OpenMathInstruct-2 with a chat template."""


def law_with_mean(mean: float, sigma: float, limit: int) -> LognormalLengths:
    """The lognormal distribution whose mean, truncated at ``limit``, is ``mean``."""
    low, high = 1.0, 100.0 * limit
    for _ in range(40):
        median = (low * high) ** 0.5
        tokens = strata(LognormalLengths(median=median, sigma=sigma), 64, limit)
        low, high = (low, median) if sum(tokens) / len(tokens) > mean else (median, high)
    return LognormalLengths(median=low, sigma=sigma)


def step_seconds(setting: Setting) -> float:
    """Time of a step without failures and checkpoints, which publications omit."""
    return simulate_cluster(setting, steps=1).step.step_seconds


def _nemo(
    model: str,
    gpus: int,
    mode: LoopMode,
    seconds: float,
    *,
    tokens: int,
    limit: int,
    prompts: int,
    group_size: int,
    generation: int,
    learner: LearnerLayout,
) -> Claim:
    """A row of NeMo RL 0.4's table. Without overlap engines and learner take turns; otherwise each side has half of the
    GPUs."""
    colocated = mode is SYNC
    side = gpus if colocated else gpus // 2

    def compute(at: ClusterAttained, sigma: float) -> float:
        allowed = limit - int(NEMO_PROMPT)
        lengths = law_with_mean(tokens - NEMO_PROMPT, sigma, allowed)
        batch = BatchWork(prompts, group_size, NEMO_PROMPT, lengths, allowed, updates=prompts * group_size // 512)
        return step_seconds(
            Setting(
                cluster=cluster_of("H100", gpus),
                scale=SCALES[model],
                batch=batch,
                mode=mode,
                engine=EngineLayout(generation, across_nodes=True),
                learner=learner,
                engines=side // generation,
                copies=side // learner.gpus,
                colocated=colocated,
                attained=at,
            )
        )

    kind = "on policy" if colocated else "one step off"
    return Claim(
        system="NeMo RL 0.4",
        figure=f"{model}, {gpus}× H100, {kind}: step",
        published=seconds,
        unit="s",
        source="its performance summary and recipes",
        fitted=colocated,
        unknown=Unknown("σ of lengths, whose mean is published", 0.6, 0.3, 1.0),
        compute=compute,
    )


def _cut(tensor: int, pipeline: int, expert: int = 1, shards: int = 1) -> LearnerLayout:
    return LearnerLayout(tensor, pipeline, expert, shards, cuts_optimizer=True)


def _prime(model: str, gpus: int, tokens_per_s: float, fitted: bool) -> Claim:
    """The learner alone: sequences of 16,384 tokens, forward and backward."""

    def compute(at: ClusterAttained, share: float) -> float:
        peak = gpus * NODES["H100"].machine.peak
        # Without the forward pass for the ratio's denominator, which our rate includes.
        more = (LEARNED + GENERATED) / LEARNED
        return more * learner_tokens_per_s(SCALES[model], 16_384 * share / 2, peak, at)

    return Claim(
        system="prime-rl",
        figure=f"{model}, {gpus}× H100, sequences of 16,384: learner",
        published=tokens_per_s,
        unit="tokens/s",
        source="its baselines",
        fitted=fitted,
        unknown=Unknown("share of a packed sequence that a token attends to", 1.0, 0.5, 1.0),
        compute=compute,
    )


def _areal(at: ClusterAttained, median: float) -> float:
    """16 hosts of H800, a distilled 1.5B policy: all GPUs taking turns, or three quarters of them generating."""
    cluster, scale, gpus = cluster_of("H800", 128), SCALES["Qwen2.5-1.5B"], 128
    batch = BatchWork(512, 16, 1024.0, LognormalLengths(median=median, sigma=1.0), 27_648, updates=4)
    turns = Setting(cluster, scale, batch, SYNC, EngineLayout(), _cut(1, 1), gpus, gpus, colocated=True, attained=at)
    mode = LoopMode("in_flight", max_staleness=8, interrupts=True, recomputes_kv=True)
    overlapped = replace(turns, mode=mode, colocated=False, engines=96, copies=32)
    return step_seconds(turns) / step_seconds(overlapped)


def _laminar(at: ClusterAttained, median: float) -> float:
    """1,024 H800 and a 7B policy: taking turns, compared with the best split that loads weights at any time."""
    cluster, scale, gpus = cluster_of("H800", 1024), SCALES["Qwen2.5-7B"], 1024
    batch = BatchWork(512, 16, 1024.0, LognormalLengths(median=median, sigma=1.0), 16_384, updates=16)
    turns = Setting(
        cluster, scale, batch, SYNC, EngineLayout(), _cut(1, 1, shards=2), 512, 512, colocated=True, attained=at
    )
    mode = LoopMode("in_flight", max_staleness=4, interrupts=True)
    overlapped = replace(turns, mode=mode, colocated=False, engines=512, copies=256)
    split = best_split(workload(overlapped), mode, gpus)
    return step_seconds(turns) / step_seconds(replace(overlapped, engines=split.engines, copies=split.ranks))


def _llama_405b(at: ClusterAttained, interval: float) -> float:
    """Share of 54 days on 16,384 H100 in which training made progress. No constant of ``ClusterAttained`` is
    involved."""
    fleet = Fleet(1, 0, 16_384, Reliability())
    days = 54 * 86_400 / interval
    passed = passage(round(days), lambda engines: interval, fleet, CheckpointPlan(1, 10.0))
    return 100 * passed.worked / passed.seconds


_LLAMA = {"tokens": 1060, "limit": 4096, "prompts": 64, "group_size": 32}
_LARGE = {"tokens": 5671, "limit": 8192, "prompts": 16, "group_size": 32}
_THINKING = {"tokens": 3206, "limit": 4096, "prompts": 64, "group_size": 32}
_MIXTURE = {"tokens": 3154, "limit": 4096, "prompts": 64, "group_size": 32}
_DEEPSEEK = {"tokens": 745, "limit": 1536, "prompts": 16, "group_size": 32}


def _row(
    model: str,
    gpus: int,
    mode: LoopMode,
    seconds: float,
    given: dict[str, int],
    generation: int,
    learner: LearnerLayout,
) -> Claim:
    return _nemo(model, gpus, mode, seconds, **given, generation=generation, learner=learner)


LOOPS = (
    _row("Llama-3.1-8B", 16, SYNC, 97.7, _LLAMA, 1, _cut(1, 2)),
    _row("Qwen3-32B", 32, SYNC, 393, _THINKING, 4, _cut(4, 4)),
    _row("Qwen3-30B-A3B", 32, SYNC, 225, _MIXTURE, 4, _cut(2, 1, 8)),
    _row("Qwen3-235B-A22B", 128, SYNC, 506, _LARGE, 16, _cut(2, 8, 16, 2)),
    _row("DeepSeek-V3", 256, SYNC, 154, _DEEPSEEK, 32, _cut(1, 16, 16)),
    _row("Llama-3.1-8B", 16, ONE_OFF, 74.6, _LLAMA, 1, _cut(1, 2)),
    _row("Qwen3-32B", 64, ONE_OFF_IN_FLIGHT, 215, _THINKING, 4, _cut(4, 4)),
    _row("Qwen3-30B-A3B", 32, ONE_OFF_IN_FLIGHT, 244, _MIXTURE, 2, _cut(1, 2, 8)),
    _row("Qwen3-235B-A22B", 256, ONE_OFF, 241, _LARGE, 8, _cut(4, 8, 16)),
    _row("DeepSeek-V3", 512, ONE_OFF_IN_FLIGHT, 77.9, _DEEPSEEK, 32, _cut(1, 16, 16)),
    _prime("Qwen3-0.6B", 1, 11_896, True),
    _prime("Qwen3-4B", 8, 26_026, False),
    Claim(
        "AReaL", "1.5B policy, 128× H800: speed-up over synchronous", 2.77, "×", "arXiv 2505.24298", False,
        Unknown("median completion, tokens", 6000, 3000, 10_000), _areal,
    ),
    Claim(
        "Laminar", "7B policy, 1,024× H800: speed-up over synchronous", 5.48, "×", "arXiv 2510.12633", False,
        Unknown("median completion, tokens", 3000, 1500, 6000), _laminar,
    ),
    Claim(
        "Llama 3", "405B, 16,384× H100: share of 54 days that counted (a lower bound)", 90.0, "%",
        "arXiv 2407.21783, §3.3.4", False, Unknown("seconds between two checkpoints", 1800, 600, 3600), _llama_405b,
    ),
)  # fmt: skip
"""Published figures of whole loops."""
