"""``python -m tests.bench [name …]``: measures speed and memory and prints the figures beside their targets."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.bench import (
    console,
    gpu,
    incidents,
    kernels,
    learner_memory,
    learner_step,
    long_tail,
    planner,
    real_shape,
    rollout_share,
    saving_memory,
    speculation,
    stage_step,
    staleness,
    time_to_reward,
    web_memory,
    weight_travel,
    weight_update,
)
from tests.bench.report import Figure, show
from tests.support.installation import Installation

BENCHMARKS: dict[str, tuple[str, Callable[[Installation], list[Figure]]]] = {
    "rollout": ("Rollout phase against the engine alone", rollout_share.measure),
    "update": ("Generation paused by a weight update, 128 running sequences", weight_update.measure),
    "planner": ("Predicted and measured step times", planner.measure),
    "short": ("Time to reward, short answers", time_to_reward.measure_short),
    "long": ("Time to reward, long-tailed lengths", time_to_reward.measure_long),
    "real": ("Whole loop on a policy of 134.5 M parameters, short answers", real_shape.measure_short),
    "real-long": ("Whole loop on a policy of 134.5 M parameters, long-tailed lengths", real_shape.measure_long),
    "tail": ("Speculation in the tail, whole loop on long-tailed lengths", speculation.measure),
    "modes": ("Modes on long-tailed lengths", long_tail.measure),
    "staleness": ("Final reward with old tokens, three seeds", staleness.measure),
    "web": ("Web process", web_memory.measure),
    "console": ("Console in Chromium", console.measure),
}


SCRIPTS = {
    "datasets": "dataset_reading.py",
    "dataset-upload": "dataset_upload.py",
    "dataset-scale": "dataset_scale.py",
    "ingest": "telemetry_ingest.py",
    "query": "telemetry_query.py",
    "reads": "load_reads.py",
    "syncs": "load_sync.py",
    "sandbox": "sandbox.py",
    "graders": "graders.py",
    "isolated": "isolated_graders.py",
    "judge": "judge.py",
    "streams": "load_streams.py",
    "live": "console_live.py",
    "day": "console_day.py",
}
"""Benchmarks that bring a platform of their own."""


ALONE: dict[str, tuple[str, Callable[[], list[Figure]]]] = {
    "kernels": ("Operations of kernels/, one core", kernels.measure),
    "learner": ("Learner's step, one core", learner_step.measure),
    "stages": ("Steps of supervised and preference training against TRL's, one core", stage_step.measure),
    "memory": ("Learner's memory, predicted and measured", learner_memory.measure),
    "saving": ("Memory of two ranks that save a checkpoint", saving_memory.measure),
    "travel": ("Weights on their way to an engine, one core", weight_travel.measure),
    "speculation": ("Speculation in the tail, the engine alone", speculation.measure_engine),
    "incidents": ("Planted incidents until they are named, and false alarms", incidents.measure),
    "gpu": ("Kernels and learner on a GPU", gpu.measure),
}
"""Benchmarks without a platform."""


def main() -> None:
    """Run the named benchmarks, or all."""
    known = [*SCRIPTS, *ALONE, *BENCHMARKS]
    chosen = sys.argv[1:] or known
    unknown = [name for name in chosen if name not in known]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    for name in (name for name in chosen if name in SCRIPTS):
        print(flush=True)
        subprocess.run([sys.executable, str(Path(__file__).with_name(SCRIPTS[name]))], check=True)
    for name in (name for name in chosen if name in ALONE):
        title, alone = ALONE[name]
        # In a process of its own: a learner leaves settings in the environment that others must not inherit.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            figures = process.submit(alone).result()
        show(title, figures)
    trained = [name for name in chosen if name in BENCHMARKS]
    if trained:
        with Installation() as installation:
            for name in trained:
                title, measure = BENCHMARKS[name]
                show(title, measure(installation))


if __name__ == "__main__":
    main()
