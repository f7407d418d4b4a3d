"""Metrics of where time is spent, and of the fates of groups."""

from trainer_core.metrics.metric import Metric

_FATES = (
    ("rollouts/parked", "Stopped groups", "groups", "groups stopped at a full batch, with their tokens kept"),
    ("rollouts/continued", "Continued groups", "groups", "stopped groups whose generation continued"),
    ("rollouts/deferred", "Deferred groups", "groups", "groups stopped at a full batch, to be generated again"),
    ("rollouts/rejected", "Replaced groups", "groups", "groups without signal that dynamic sampling replaced"),
    ("rollouts/regenerated", "Regenerated groups", "groups", "groups generated again because a worker was lost"),
)
"""Fates of groups other than being trained on: (name, title, unit, formula)."""

_SPECULATION = (
    ("speculation/drafted_tokens", "Drafted tokens", "tokens", "tokens proposed by drafts, summed over engines"),
    ("speculation/accepted_tokens", "Accepted tokens", "tokens", "drafted tokens that were sampled"),
    ("speculation/accepted_share", "Accepted share", "share", "accepted tokens / drafted tokens"),
    (
        "speculation/tokens_per_draft",
        "Tokens per draft",
        "tokens",
        "tokens that a sequence with a draft gained in a step, mean: 1 + accepted tokens / drafts",
    ),
    ("speculation/step_share", "Speculated steps", "share", "engine steps with drafts / engine steps"),
)
"""Speculation in the tail: (name, title, unit, formula)."""

ENTRIES = (
    Metric("timing_s/step", "Step time", "s", "from one step's end to the next's", "speed", {"trl": "step_time"}),
    Metric(
        "timing_s/generate",
        "Generation",
        "s",
        "time with any group in the engines, without weight updates of idle engines",
        "speed",
    ),
    Metric("timing_s/reward", "Rewards", "s", "time of rewards while nothing was being generated", "speed"),
    Metric("timing_s/learn", "Learning", "s", "time of the update", "speed"),
    Metric("timing_s/probe", "Weight probe", "s", "the part of the sync that verifies the engines' weights", "speed"),
    Metric("timing_s/sync", "Weight sync", "s", "from the update's end to the probe's", "speed"),
    Metric(
        "timing_s/paused",
        "Generation paused",
        "s",
        "from the stop for a weight update to the next token, mean over engines",
        "speed",
    ),
    Metric("timing_s/wait", "Waiting", "s", "time the learner waited for a batch", "speed"),
    Metric("checkpoint/failures", "Failed saves", "tries", "failed attempts to write a checkpoint", "speed"),
    Metric("perf/throughput", "Throughput", "tokens/s", "completion tokens / step time", "speed"),
    Metric("perf/rollouts_per_s", "Rollouts", "1/s", "trajectories / step time", "speed"),
    Metric(
        "perf/mfu",
        "Model FLOP utilisation",
        "share",
        "(2 · N · tokens sampled + 6 · N · tokens learned, each / measured peak of its number type) / step time",
        "speed",
    ),
    Metric(
        "perf/learner_memory_max",
        "Learner memory",
        "GiB",
        "peak of tensors on a learner rank's GPU since the previous step",
        "speed",
    ),
    Metric("perf/engine_busy_share", "Engine busy", "share", "time inside engine steps / wall time", "speed"),
    Metric(
        "perf/engine_share_min",
        "Smallest engine's share",
        "share",
        "tokens of the engine that generated fewest / tokens of all; 1 / engines if all are equal",
        "speed",
    ),
    Metric("perf/kv_usage", "KV cache", "share", "used blocks / blocks, peak", "speed"),
    Metric(
        "perf/preemptions", "Preemptions", "sequences", "running sequences that were preempted and recomputed", "speed"
    ),
    Metric(
        "perf/running_sequences",
        "Running sequences",
        "sequences",
        "mean over engine steps, summed over engines",
        "speed",
    ),
    Metric(
        "perf/fp8_simulated",
        "FP8 simulated",
        "share",
        "engines that simulate FP8 by rounding, without speed-up / engines in FP8",
        "speed",
    ),
    *(Metric(*entry, "speed") for entry in _FATES),
    *(Metric(*entry, "speed") for entry in _SPECULATION),
)
