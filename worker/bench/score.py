"""Scores the samples of a bench job under each of its definitions."""

import time
from typing import Any

from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.graders import leaves
from trainer_core.rewards.graders.length_penalty import LengthPenaltyGrader
from worker.bench.job import BenchJob, BenchSample, result_document
from worker.scoring.open import ToolSetup, Workbench
from worker.scoring.scorer import Graded, Job, failed


def score_job(job: BenchJob, setup: ToolSetup) -> dict[str, Any]:
    """The result document.

    Raises:
        JailError: this machine has no strong jail, and a grader runs untrusted text.
        StartError: a judge or a reward model cannot be had.
    """
    definitions = [entry.definition for entry in job.definitions]
    bench = Workbench(definitions, setup, job.timeout_s)
    try:
        rows = [_row(bench, definition, job) for definition in definitions]
        return result_document(rows, bench.use())
    finally:
        bench.close()


def _row(bench: Workbench, definition: RewardDefinition, job: BenchJob) -> list[Graded]:
    measured = any(
        isinstance(leaf, LengthPenaltyGrader) for part in definition.components for leaf in leaves(part.grader)
    )
    known = [sample for sample in job.samples if not (measured and sample.completion_tokens is None)]
    jobs = [Job(definition, sample.sample(job.thinking), sample.item) for sample in known]
    graded = dict(zip((id(sample) for sample in known), bench.scorer.score(jobs), strict=True))
    return [graded.get(id(sample)) or _unmeasured(sample) for sample in job.samples]


def _unmeasured(sample: BenchSample) -> Graded:
    started = time.perf_counter()
    message = "the reward depends on the length, and the sample's number of tokens is not known"
    return Graded(failed(message), time.perf_counter() - started)
